"""What every test stands on: a home of its own, Qt offscreen, and no warning left unread."""

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.several_users import Lacking, Machine, machine

TESTS = Path(__file__).parent

# Before a test imports qasync, which else takes any binding that it finds.
os.environ["QT_API"] = "pyside6"
# Before a test imports the window, whose constants are texts: they are expected in English.
os.environ["LANGUAGE"] = "C"
os.environ.pop("LINECLEAR_LOCALE", None)

KINDS = {"e2e": 180, "stress": 900}
"""Folders whose tests are a kind of their own, and the seconds that one such test may take."""

hypothesis.settings.register_profile("local", deadline=None)
# There an example's time says nothing, and what failed has to fail again at the next run.
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--onscreen", action="store_true", help="show the windows under test")
    parser.addoption(
        "--thorough", action="store_true", help="also further combinations of what is tested"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--onscreen"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Let Qt have its messages again before Python ends.

    pytest-qt's handler stays where a test was skipped or interrupted before it began. Qt has
    messages while its libraries are unloaded too, and PySide6 then asks an interpreter that is gone
    for its errors: the process dies with SIGSEGV, whatever its tests said.
    """
    core = sys.modules.get("PySide6.QtCore")
    if core is not None:
        core.qInstallMessageHandler(None)


LONGEST_FIRST = ("stress", "e2e", "packaging", "ui", "cli")
"""Folders in the order in which their tests begin, the others behind them by name.

Files of one worker each: a long one that began last would leave the other workers idle.
"""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--thorough"):
        further = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=further)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    turn = {kind: number for number, kind in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: turn.get(item.path.relative_to(TESTS).parts[0], len(turn)))
    for item in items:
        kind = item.path.relative_to(TESTS).parts[0]
        if kind in KINDS:
            item.add_marker(kind)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(KINDS[kind]))


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder that this test and its processes take for the user's."""
    home = tmp_path_factory.mktemp("home")
    runtime = home / "run"
    runtime.mkdir(mode=0o700)
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "AppData" / "Roaming",
        "LOCALAPPDATA": home / "AppData" / "Local",
        "LINECLEAR_HOME": home / "lineclear",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_RUNTIME_DIR": runtime,
        "XDG_STATE_HOME": home / ".local" / "state",
    }
    for name, place in places.items():
        monkeypatch.setenv(name, str(place))
    # A test neither notifies nor asks the desktop of the person who runs it.
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    return home


class _Warnings(logging.Handler):
    """Keeps what was logged at WARNING and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def no_unexpected_warning(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which Lineclear warned; a test that asks for `caplog` looks for itself."""
    if "caplog" in request.fixturenames:
        yield
        return
    kept = _Warnings()
    logger = logging.getLogger("lineclear")
    logger.addHandler(kept)
    yield
    logger.removeHandler(kept)
    if kept.lines:
        pytest.fail("unexpected warnings:\n" + "\n".join(kept.lines), pytrace=False)


@pytest.fixture
def town() -> Iterator[Machine]:
    """An agent, two operators and others with uids of their own; skipped where it takes more."""
    try:
        with machine() as made:
            yield made
    except Lacking as why:
        pytest.skip(str(why))
