"""The approval protocol on disk: four facts per call, each a file that is created once."""
