"""The one module of this operating system behind commit, lock and liveness."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from lineclear.core.ledger import _windows as system
elif sys.platform == "darwin":
    from lineclear.core.ledger import _macos as system
else:
    from lineclear.core.ledger import _linux as system

__all__ = ["system"]
