"""The operator's side: sources, scan, watch, feed, decide, launch, settings."""
