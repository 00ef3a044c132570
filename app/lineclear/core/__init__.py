"""The library under the window, the command line and the agents; it knows no Qt."""
