import subprocess
import sys

import lineclear


def test_every_public_name_is_there_and_documented():
    for name in lineclear.__all__:
        assert getattr(lineclear, name) is not None
        assert name in dir(lineclear)
    assert len(set(lineclear.__all__)) == len(lineclear.__all__)


def test_the_names_that_agents_are_promised():
    promised = "Gate Denied MayHaveRun StoreHeld FileResumeStore MemoryResumeStore PendingApproval"
    promised += " AgentExecutor ResumeError"
    assert set(promised.split()) <= set(lineclear.__all__)


def test_importing_the_package_loads_nothing_of_it():
    code = "import sys, lineclear; print([m for m in sys.modules if m.startswith('lineclear.')])"
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout == "[]\n"
