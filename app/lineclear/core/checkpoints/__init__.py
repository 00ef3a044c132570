"""What agents write: strict reading, the systems' formats, and text that is safe to show.

Nothing is imported here: the formats build their models, and a command that only prints its help
needs none of them.
"""
