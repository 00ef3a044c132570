"""What the window asks of the desktop around it: notifications, one window, the screen's lock."""
