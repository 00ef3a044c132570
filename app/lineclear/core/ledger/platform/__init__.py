"""What each operating system does behind commit, lock and liveness."""
