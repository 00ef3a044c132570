"""An agent whose own child tries to approve what it asks for.

usage: self_approver EFFECTS
"""

import json
import os
import subprocess
import sys
import threading
import time

from lineclear import Gate
from tests.e2e.agents import effect

gate = Gate("sly-bot")


@gate.guard
def delete_all(path: str) -> str:
    effect.append(sys.argv[1], path)
    return "deleted"


threading.Thread(target=delete_all, args=("/srv",), daemon=True).start()
pending = gate.folder / "1" / "pending.json"
while not pending.exists():
    time.sleep(0.01)
aid = json.loads(pending.read_bytes())["lineclear"]["aid"]
tried = subprocess.run(
    [sys.executable, "-m", "lineclear", "approve", aid], capture_output=True, text=True, check=False
)
code = tried.stderr.rpartition("[")[2].partition("]")[0]
effect.say(exit=tried.returncode, code=code)
# The thread waits for a person and would never end.
os._exit(0)
