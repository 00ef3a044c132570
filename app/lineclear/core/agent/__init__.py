"""The agent's side: resume stores, gate, executor, approval handlers."""
