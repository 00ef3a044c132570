"""The frozen programs: built once, then used as by somebody who has nothing else installed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.ledger.ask import Asked, Call, ask
from lineclear.core.ledger.store import Store
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.desktop_services import running
from tests.e2e.processes import (
    Ended,
    agent,
    agents_folder,
    effects,
    lane,
    settings,
    started,
    waiting,
)
from tests.packaging.conftest import BUILD_S, ROOT, Release

pytestmark = [
    pytest.mark.bundle,
    pytest.mark.timeout(BUILD_S + 120),
    # With several workers: one of them builds.
    pytest.mark.xdist_group("bundle"),
]

PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


class Bundle:
    """The folder of the two programs, and how they are started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lineclear = folder / "lineclear"
        self.window = folder / "lineclear-inbox"

    def run(
        self, *arguments: str | Path, expect: int = 0, env: dict[str, str] | None = None
    ) -> Ended:
        """Run the command line to its end, from a folder that has no source code in it."""
        done = subprocess.run(
            [self.lineclear, *arguments],
            env={**os.environ, **(env or {})},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == expect, f"exit {done.returncode}: {done.stderr}{done.stdout}"
        if expect == 0:
            assert done.stderr == ""
        return Ended(done.returncode, done.stdout, done.stderr)

    def rows(self, *options: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.run("list", "--json", *options).json
        return rows


@pytest.fixture(scope="module")
def bundle(release: Release) -> Bundle:
    """The programs that were built of this checkout."""
    return Bundle(release.bundle)


def a_call(store: Path) -> str:
    """A call in a native store whose agent is dead; its id."""
    with Store.create(store) as opened:
        asked = ask(opened, Call("send_refund", {"customer": "C-1204", "amount": 80}, "refund-bot"))
    assert isinstance(asked, Asked)
    return asked.shown.aid


# --- The command line ---


def test_it_knows_its_version(bundle):
    assert bundle.run("--version").out == f"lineclear {metadata.version('lineclear')}\n"


def test_it_is_not_larger_than_it_may_be(bundle):
    size = sum(each.lstat().st_size for each in bundle.folder.rglob("*") if not each.is_dir())
    assert size <= 190_000_000


def test_nothing_of_the_developers_tools_is_inside(bundle):
    inside = {each.name for each in (bundle.folder / "_internal").iterdir()}
    assert not inside & {"hypothesis", "setuptools", "pytest", "mypy", "rich", "_tkinter"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such libraries")
def test_nothing_that_only_unused_plugins_need_is_inside(bundle):
    inside = {each.name.partition(".")[0] for each in bundle.folder.rglob("*.so*")}
    assert {"libQt6Widgets", "libxcb-cursor", "libdbus-1"} <= inside
    assert not inside & {"libgtk-3", "libcairo", "libpango-1", "libkrb5", "libQt6EglFsKmsSupport"}


def test_a_live_agent_of_another_python_gets_its_approval(bundle, tmp_path):
    done = tmp_path / "effects"
    with agent("refunds", done, "C-1204=80", log=tmp_path / "log") as bot:
        aid = waiting(lane("refund-bot"))
        (row,) = bundle.rows()
        assert (row["id"], row["tool"], row["process"]) == (aid, "send_refund", "alive")
        assert row["arguments"] == {"customer": "C-1204", "amount": 80}
        bundle.run("approve", aid[:8])
        assert bot.finishes().said() == [{"result": "refund of 80 to C-1204 sent"}]
    assert effects(done) == ["C-1204 80"]
    assert [(row["state"], row["outcome"]) for row in bundle.rows()] == [("done", "ok")]


RESUMED = """\
import json, os
from lineclear import Action, AgentExecutor, Finish

class Model:
    def plan(self, inputs, steps):
        if steps:
            return Finish("done: " + steps[-1].observation)
        return Action("send_refund", {"customer": "C-1204", "amount": 80})

def send_refund(customer, amount):
    return json.dumps(dict(os.environ))

def make(store):
    return AgentExecutor(Model(), {"send_refund": send_refund}, store=store)
"""
DIES_WAITING = """\
import asyncio, sys
from refunds import make

async def main():
    async with make(sys.argv[1]) as agent:
        await agent.invoke("refund")

asyncio.run(main())
"""


@pytest.fixture
def approved(bundle: Bundle, tmp_path: Path) -> Path:
    """A run folder of an executor that was killed while it waited, and whose call is approved.

    Beside it, in the folder above, the agent's module.
    """
    (tmp_path / "refunds.py").write_text(RESUMED)
    store = tmp_path / "källa" / "a bot"
    store.parent.mkdir()
    argv = [sys.executable, "-c", DIES_WAITING, str(store)]
    with subprocess.Popen(argv, cwd=tmp_path, stderr=subprocess.DEVNULL) as agent_of_its_own:
        try:
            rows = wait_for("the call", lambda: bundle.rows("--source", str(store.parent)))
        finally:
            agent_of_its_own.kill()
    bundle.run("approve", rows[0]["id"], "--source", store.parent)
    return store


def resumed(bundle: Bundle, store: Path, *words: str, env: dict[str, str]) -> Ended:
    done = subprocess.run(
        [bundle.lineclear, "resume", store, "--agent", "refunds:make", *words],
        cwd=store.parents[1],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("found_by", ["--python", "PATH"])
def test_resume_goes_on_with_an_agent_in_its_own_python(bundle, approved, tmp_path, found_by):
    hidden = ("VIRTUAL_ENV", "LD_LIBRARY_PATH")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    env |= {"PATH": "/nowhere", "LD_LIBRARY_PATH": "/opt/agents/lib"}
    words = []
    if found_by == "--python":
        words = ["--python", sys.executable]
    else:
        env["PATH"] = str(Path(sys.executable).parent)
    done = resumed(bundle, approved, *words, env=env)
    assert (done.code, done.err) == (0, "")
    told: dict[str, str] = json.loads(done.out.removeprefix("done: "))
    assert told["LD_LIBRARY_PATH"] == "/opt/agents/lib"
    assert not [name for name in told if name.startswith(("_PYI", "_MEI", "LD_LIBRARY_PATH_"))]
    assert str(bundle.folder) not in done.out
    rows = bundle.rows("--all", "--source", str(approved.parent))
    assert [(row["state"], row["outcome"]) for row in rows] == [("done", "ok")]


def test_where_no_python_has_the_agent_it_says_how_to_name_one(bundle, approved, tmp_path):
    env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = resumed(bundle, approved, env={**env, "PATH": str(tmp_path)})
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "lineclear: This program brings a Python of its own, which has none of an agent's packages,"
        " and no Python with Lineclear was found. Name the agent's with --python, or activate its"
        " virtual environment.\n"
    )
    rows = bundle.rows("--source", str(approved.parent))
    assert [row["state"] for row in rows] == ["approved"]


# --- What it starts ---


def printed_by_the_resume_command(bundle: Bundle, env: dict[str, str]) -> dict[str, str]:
    """Approve and relaunch the one call; the environment that its resume command printed."""
    (row,) = bundle.rows()
    aid = row["id"]
    bundle.run("approve", aid)
    launched = bundle.run("relaunch", aid, "--json", env=env).json
    log = Path(launched["log"])
    wait_for("what the command printed", lambda: log.exists() and log.read_text().endswith("}\n"))
    printed: dict[str, str] = json.loads(log.read_text())
    return printed


def native() -> None:
    a_call(lane("refund-bot"))


def foreign() -> None:
    """A call in another system's store, which is claimed and run by the bundle's own worker."""
    store = agents_folder() / "refund-bot"
    store.mkdir(parents=True, mode=0o700)
    checkpoint = store / "pending.json"
    shipped = ROOT / "tests" / "data" / "fixtures" / "lc_agents" / "v025_small.json"
    checkpoint.write_bytes(shipped.read_bytes())
    checkpoint.chmod(0o600)


@pytest.mark.parametrize("call", [native, foreign])
@pytest.mark.parametrize("before", [None, "/opt/agents/lib"])
def test_an_agent_gets_the_library_path_that_the_operator_has(bundle, monkeypatch, call, before):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    argv = [sys.executable, "-c", PRINT_ENVIRONMENT]
    settings(launch=[{"source": str(agents_folder()), "argv": argv, "env": {"MODE": "resume"}}])
    call()
    env = {} if before is None else {"LD_LIBRARY_PATH": before}
    printed = printed_by_the_resume_command(bundle, env)
    assert printed.get("LD_LIBRARY_PATH") == before
    assert printed["MODE"] == "resume"
    assert not [name for name in printed if name.startswith(("_PYI", "_MEI", "LD_LIBRARY_PATH_"))]
    assert str(bundle.folder) not in json.dumps(printed)


def test_the_demo_runs_its_agents_and_resumes_the_dead_one(bundle, tmp_path, monkeypatch):
    home = tmp_path / "demo"
    argv: list[str | Path] = [bundle.lineclear, "demo", "--no-window", "--home", home]
    with started(argv, tmp_path / "log") as demo:
        monkeypatch.setenv("LINECLEAR_HOME", str(home))

        def dead() -> list[dict[str, Any]]:
            return [
                row
                for row in bundle.rows()
                if row["agent"] == "deploy-bot" and row["process"] == "dead"
            ]

        wait_for("the agent that dies waiting", dead, 40)
        (row,) = dead()
        bundle.run("approve", row["id"])
        bundle.run("relaunch", row["id"])

        def outcome() -> bool:
            rows = bundle.rows("--all")
            return any(one["id"] == row["id"] and one["outcome"] == "ok" for one in rows)

        wait_for("the outcome", outcome, 40)
        demo.process.send_signal(signal.SIGINT)
        assert demo.ended() == 130, "as Ctrl-C ends a program"
        assert "Traceback" not in demo.text()
        assert f"    {bundle.lineclear} list\n" in demo.text()
    assert {row["process"] for row in bundle.rows()} == {"dead"}


def test_the_demo_opens_the_window_on_its_agents_and_ends_with_it(desktop, bundle, tmp_path):
    argv = [str(bundle.lineclear), "demo", "--home", str(tmp_path / "demo")]
    with desktop.started(argv) as demo:
        desktop.close(desktop.window(r"[0-9]+ waiting", seconds=60))
        assert demo.wait(30) == 0
    assert (desktop.logs / "lineclear.log").read_text() == (
        "The demo runs 5 pretend agents; nothing real runs.\n"
        "Close the window or press Ctrl-C to end it.\n"
        "The demo has ended; its agents are gone.\n"
    )


# --- The window ---


@contextmanager
def opened(desktop: Desktop, argv: list[str], **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A window that is closed by its button at the end of the block, and had nothing to say."""
    log = desktop.logs / f"{Path(argv[0]).name}.log"
    with desktop.started(argv, **env) as child:

        def look() -> list[int]:
            assert child.poll() is None, log.read_text()
            return desktop.windows("1 waiting", child.pid)

        (window,) = wait_for("the window", look, 60)
        yield child
        # The first time it says what closing means; the second time it is meant.
        desktop.close(desktop.geometry(window))
        desktop.close(desktop.geometry(window))
        assert child.wait(30) == 0
    assert log.read_text() == ""


@pytest.mark.parametrize("words", [("lineclear-inbox",), ("lineclear", "inbox")], ids=" ".join)
def test_the_window_opens_on_what_waits_and_closes(desktop, bundle, words):
    a_call(lane("refund-bot"))
    program, *arguments = words
    with opened(desktop, [str(bundle.folder / program), *arguments]) as child:
        # The command line has become the window: signals and the exit code are the window's.
        program_file = Path(f"/proc/{child.pid}/exe").readlink()
        assert program_file == bundle.window


def test_the_window_watches_the_folder_that_it_is_given(desktop, bundle, tmp_path):
    a_call(tmp_path / "elsewhere" / "refund-bot" / "1")
    source = str(tmp_path / "elsewhere")
    with opened(desktop, [str(bundle.lineclear), "inbox", "--source", source]):
        watched = list((tmp_path / "elsewhere" / ".watched").iterdir())
    assert len(watched) == 1
    assert bundle.rows() == []


def test_the_window_tells_through_the_desktop(desktop, bundle, home):
    a_call(lane("refund-bot"))
    with (
        running(home / "hand", "org.freedesktop.Notifications", env=desktop.env) as services,
        opened(desktop, [str(bundle.window)]) as child,
    ):
        (window,) = desktop.windows("1 waiting", child.pid)
        desktop.xdotool("windowminimize", window)
        wait_for("the window gone", lambda: not desktop.windows("1 waiting", child.pid))
        a_call(lane("ci"))
        shown = services.next()
        assert shown["summary"] == "2 calls wait"
        services.press("review", shown, token="token")
        wait_for("the window", lambda: desktop.windows("2 waiting", child.pid))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_window_that_the_command_line_opened_remembers_the_operators_library_path(
    desktop, bundle
):
    a_call(lane("refund-bot"))
    argv = [str(bundle.lineclear), "inbox"]
    with opened(desktop, argv, LD_LIBRARY_PATH="/opt/agents/lib") as child:
        told = Path(f"/proc/{child.pid}/environ").read_text().split("\0")
    assert "LD_LIBRARY_PATH_ORIG=/opt/agents/lib" in told


@pytest.mark.parametrize(
    "language",
    [
        {},
        {"LANG": "C"},
        {"LC_ALL": "POSIX"},
        {"LANG": "xx_YY.UTF-8"},
        # As a Mac tells it to a remote shell.
        {"LC_CTYPE": "UTF-8"},
    ],
    ids=str,
)
def test_it_starts_without_a_word_whatever_language_is_set(bundle, tmp_path, language):
    hidden = ("LANG", "LANGUAGE", "XDG_RUNTIME_DIR", "LINECLEAR_HOME")
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in hidden and not name.startswith("LC_")
    }
    done = subprocess.run(
        [bundle.window, "--self-check"],
        cwd=tmp_path,
        env={**env, "QT_QPA_PLATFORM": "offscreen", **language},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
