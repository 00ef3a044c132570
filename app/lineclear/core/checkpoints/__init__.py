"""What agents write: strict reading, the systems' formats, and text that is safe to show."""
