"""The history: every decision and outcome that was observed, chained so that changes show."""
