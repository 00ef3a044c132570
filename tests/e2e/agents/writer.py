"""An agent whose argument is long and in many scripts, and one that is no text at all.

usage: writer EFFECTS
"""

import sys

from lineclear import Gate
from tests.e2e.agents import effect

LONG = "Zahlung für Ω, 支払い, דמי, \u202e🏦 " * 100_000

gate = Gate("writer")


@gate.guard
def write(text: str) -> str:
    effect.append(sys.argv[1], str(len(text)))
    effect.say(length=len(text), end=text[-20:])
    return "written"


write(LONG)
try:
    write(b"no text")  # type: ignore[arg-type]
except TypeError as why:
    sys.stdout.write(f"TypeError {why}\n")
