"""A program of another system, resumed on a store: it knows lc-agents' pending.json and nothing of
Lineclear.

usage: foreign STORE EFFECTS LAST

As lc-agents 0.24 does, it takes the checkpoint away first, then runs the call, and then saves the
next one in the same folder; a call of iteration LAST is its last.
"""

import json
import sys
from pathlib import Path

from tests.e2e.agents import effect


def main() -> int:
    store, effects, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    path = store / "pending.json"
    call = json.loads(path.read_bytes())
    path.unlink()
    effect.append(effects, f"{call['tool_name']} {call['arguments']['path']}")
    effect.say(ran=call["tool_name"], store=str(store))
    if call["iteration"] < last:
        call["steps"].append(
            {
                "action": {
                    "tool": call["tool_name"],
                    "tool_input": {"type": "object", "value": call["arguments"]},
                    "log": "",
                },
                "observation": "done",
            }
        )
        call["iteration"] += 1
        call["tool_calls_consumed"] += 1
        call["arguments"] = {"path": f"{call['arguments']['path']}.next"}
        draft = store / "pending.json.tmp"
        draft.write_text(json.dumps(call, indent=2))
        draft.rename(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
