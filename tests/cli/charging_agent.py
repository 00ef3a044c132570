"""An agent of ours that charges once and asks nobody, for runs that another program left."""

from tests import badinputs

LOOP = badinputs.FIXTURES / "a3s" / "small_one_round.json"
"""Such a run, between two rounds."""
MODULE = """
import os, time
from pathlib import Path
from lineclear import Action, AgentExecutor, FileResumeStore, Finish, Tool

HERE = Path(__file__).parent

class Model:
    def plan(self, inputs, steps):
        return Action("charge", {}) if len(steps) < 2 else Finish("charged")

def charge():
    with (HERE / "ran").open("a") as ran:
        print(os.getpid(), file=ran)
    until = time.monotonic() + 40
    while (HERE / "wait").exists() and time.monotonic() < until:
        time.sleep(0.02)
    return "ok"

def make(store):
    (HERE / f"made-{Path(store).name}").touch()
    tools = {"charge": Tool(charge, asks=False)}
    return AgentExecutor(Model(), tools, store=FileResumeStore(store), session_id="session-1")
"""
"""Notes each charge in `ran`, which lasts while `wait` is there, and itself in `made-FOLDER`."""
