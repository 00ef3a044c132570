"""Whatever happens on disk, in whatever order: scanning on gives what a fresh scan gives."""

import contextlib
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator.settings import SourceSetting
from lineclear.core.inbox.watching.feed import Feed
from lineclear.core.inbox.watching.scan import Scanner, scan_once
from lineclear.core.ledger.ask import Call, ask
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.inbox.agents import watching

BOB = this_person("bob")
NATIVE = ("bot/1", "bot/2", "plain")
FOREIGN = ("shop/a", "shop/b", "alone")

step = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(NATIVE), st.sampled_from(["x", "y"])),
    st.tuples(st.just("deny"), st.sampled_from(NATIVE), st.none()),
    st.tuples(st.just("approve"), st.sampled_from(NATIVE), st.none()),
    st.tuples(st.just("end"), st.sampled_from(NATIVE), st.none()),
    st.tuples(st.just("leave"), st.sampled_from(FOREIGN), st.sampled_from(["x", "y", "bad"])),
    st.tuples(st.just("take"), st.sampled_from(FOREIGN), st.none()),
    st.tuples(
        st.just("remove"),
        st.sampled_from(("bot", "bot/2", "bot/agent.lock", "shop", "plain", "alone")),
        st.none(),
    ),
    st.tuples(st.just("open up"), st.sampled_from(("bot/1", "shop/a", "shop")), st.none()),
    st.tuples(st.just("move"), st.sampled_from(FOREIGN), st.none()),
    st.tuples(st.just("lock"), st.just("bot"), st.none()),
)


def do(source: Path, what: str, where: str, which: str | None) -> None:
    folder = source / where
    match what:
        case "ask":
            with Store.create(folder) as store:
                ask(store, Call(which or "", {"to": "bob"}, "bot"))
        case "deny" | "approve":
            with Store.open(folder) as store:
                shown = store.read_request(len(store.calls()))
                decide(store, shown, Verdict(what, reason="no"), BOB, valid_for_s=900.0)
        case "end":
            with Store.open(folder) as store:
                finish(store, store.read_request(len(store.calls())), "ok", result="done")
        case "leave":
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            raw = b"{" if which == "bad" else badinputs.encoded(tool_name=which)
            badinputs.put(folder / "draft", raw).rename(folder / "pending.json")
        case "take":
            (folder / "pending.json").unlink(missing_ok=True)
        case "remove":
            folder.unlink() if folder.is_file() else shutil.rmtree(folder)
        case "open up":
            folder.chmod(0o777)
        case "move":
            folder.rename(folder.with_name(folder.name + "x"))
        case _:
            (folder / "agent.lock").touch(0o600)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(step, min_size=1, max_size=14))
def test_scanning_on_equals_scanning_afresh(steps):
    with tempfile.TemporaryDirectory() as root:
        source = Path(root) / "agents"
        source.mkdir(mode=0o700)
        setting = SourceSetting(path=source)
        scanner, feed = Scanner(watching(source)), Feed()
        for what, where, which in steps:
            # Not every step can be taken where one stands.
            with contextlib.suppress(LineclearError, OSError, ValueError):
                do(source, what, where, which)
            feed.update(list(scanner.scan_source(setting)))
            fresh = scan_once(scanner.settings, [setting])
            assert {row.id: row for row in feed.rows()} == {row.id: row for row in fresh}
            open_rows = sum(not row.closed for row in fresh)
            assert [one.calls for one in scanner.health()] == [open_rows]
