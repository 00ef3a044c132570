"""Pid namespaces of their own, as containers have them."""

import os
import shutil
import subprocess
import sys
from functools import lru_cache

BOX = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
"""Put before a command: its process is number 1 there and dies with the one that is started."""


@lru_cache(maxsize=1)
def no_boxes() -> str | None:
    """Say why no pid namespace can be made here, None if one can."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None:
        return "needs root on Linux, to make a pid namespace"
    made = subprocess.run([*BOX, "true"], capture_output=True, check=False, timeout=30)
    return None if made.returncode == 0 else "this container may not make another one"
