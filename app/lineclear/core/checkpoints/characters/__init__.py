"""Characters: what hides, reorders or imitates text, made visible."""
