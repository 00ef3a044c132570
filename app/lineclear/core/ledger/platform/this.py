"""The modules of this operating system behind commit, lock and liveness."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from lineclear.core.ledger.platform import windows as folders
    from lineclear.core.ledger.platform import windows as system
else:
    from lineclear.core.ledger.platform import posix as folders

    if sys.platform == "darwin":
        from lineclear.core.ledger.platform import macos as system
    else:
        from lineclear.core.ledger.platform import linux as system

__all__ = ["folders", "system"]
