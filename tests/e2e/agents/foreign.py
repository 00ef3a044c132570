"""A program of another system, resumed on a store: it knows lc-agents' pending.json and nothing of
Lineclear.

usage: foreign STORE EFFECTS LAST [--hang] [--fail]

As lc-agents 0.24 does, it takes the checkpoint away first, then runs the call, and then saves the
next one in the same folder; a call of iteration LAST is its last. Its resume takes a decision in
lc-agents' own form, which it reads from the record that $LINECLEAR_DECISION names. With --hang it
never returns after its effect, with --fail it ends badly.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.e2e.agents import effect


def main() -> int:
    store, effects, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    path = store / "pending.json"
    call = json.loads(path.read_bytes())
    path.unlink()
    decision = json.loads(Path(os.environ["LINECLEAR_DECISION"]).read_bytes())["native"]
    if decision == "Allow":
        observation = run(effects, call)
    elif "Modify" in decision:
        call["arguments"] = decision["Modify"]["arguments"]
        observation = run(effects, call)
    else:
        observation = f"[DENIED by approval: {decision['Deny']['reason']}]"
    effect.say(observation=observation, store=str(store))
    if "--hang" in sys.argv:
        signal.pause()
    if "--fail" in sys.argv:
        return 3
    if call["iteration"] < last:
        call["steps"].append(
            {
                "action": {
                    "tool": call["tool_name"],
                    "tool_input": {"type": "object", "value": call["arguments"]},
                    "log": "",
                },
                "observation": observation,
            }
        )
        call["iteration"] += 1
        call["tool_calls_consumed"] += 1
        call["arguments"] = {"path": f"{call['arguments']['path']}.next"}
        draft = store / "pending.json.tmp"
        draft.write_text(json.dumps(call, indent=2))
        draft.rename(path)
    return 0


def run(effects: str, call: dict[str, Any]) -> str:
    effect.append(effects, f"{call['tool_name']} {call['arguments']['path']}")
    return "done"


if __name__ == "__main__":
    sys.exit(main())
