"""What belongs to the operator: settings, the own view, hours, start at sign-in."""
