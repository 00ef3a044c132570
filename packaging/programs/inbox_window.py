"""The frozen window."""

import os
import sys

from lineclear.ui.app import main


def speak_utf8() -> None:
    """Take C.UTF-8 where no language is set, as Python's own starter does (PEP 538).

    The starter of a frozen program does not, and Qt would complain at each start.
    """
    language = os.environ.get("LC_CTYPE") or os.environ.get("LANG") or "C"
    if language in ("C", "POSIX") and not os.environ.get("LC_ALL"):
        os.environ["LC_CTYPE"] = "C.UTF-8"


if __name__ == "__main__":
    if sys.platform.startswith("linux"):
        speak_utf8()
    sys.exit(main())
