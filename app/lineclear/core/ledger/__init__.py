"""The approval protocol on disk: four facts per call, each a file created once and never rewritten."""
