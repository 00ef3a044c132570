"""The modules of this operating system behind commit, lock and liveness."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from lineclear.core.ledger import _windows as folders
    from lineclear.core.ledger import _windows as system
else:
    from lineclear.core.ledger import _posix as folders

    if sys.platform == "darwin":
        from lineclear.core.ledger import _macos as system
    else:
        from lineclear.core.ledger import _linux as system

__all__ = ["folders", "system"]
