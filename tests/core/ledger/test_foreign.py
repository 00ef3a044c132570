"""Foreign stores: the checkpoint is another program's; we only read it, decide, and claim it."""

import hashlib
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from lineclear.core.checkpoints.fileread import FileBytes, FileIdentity
from lineclear.core.errors import AlreadyDecided, Refusal, StoreRefused, Unreadable
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import resolve, take_back
from lineclear.core.ledger.foreign import (
    Claimed,
    claim,
    claimed_checkpoints,
    foreign_aid,
    put_back,
    show_foreign,
)
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import finish, result_text
from lineclear.core.ledger.start import Observed, Unfit, Verified, Waiting, begin, read_decision
from lineclear.core.ledger.state import State, observe
from lineclear.core.ledger.store import Shown, Store
from lineclear.core.private_groups import others_may_write
from tests.core.ledger.steps import (
    BOB,
    change,
    put,
    record,
    say,
    start_of_a_dead_process,
    verified,
)

FIXTURES = Path(__file__).parents[2] / "data" / "fixtures" / "lc_agents"
SMALL = (FIXTURES / "v025_small.json").read_bytes()
OTHER = (FIXTURES / "v018_sample_pending.json").read_bytes()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "bot"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture
def bot(folder):
    """A store whose agent wrote a checkpoint as lc-agents does: a temporary, then a rename."""
    writes(folder, SMALL)
    with Store.open(folder) as store:
        yield store


def writes(folder: Path, raw: bytes) -> None:
    temporary = folder / "pending.json.tmp"
    temporary.write_bytes(raw)
    temporary.chmod(0o644)
    temporary.rename(folder / "pending.json")


def only(store: Store, path: Path | None = None) -> Shown:
    (shown,) = show_foreign(path or store.path / "pending.json", store=store)
    return shown


def refused(code, act, *args, **kwargs) -> str:
    with pytest.raises(Refusal) as why:
        act(*args, **kwargs)
    assert why.value.code == code
    return str(why.value)


def checkpoints(store: Store) -> dict[str, bytes]:
    """All checkpoints that stand in the store or in its claimed folders, by place."""
    found = {
        str(path.relative_to(store.path)): path.read_bytes()
        for path in store.path.rglob("pending.json")
    }
    claimed = {str(p.relative_to(store.path)) for p in claimed_checkpoints(store)}
    assert claimed == set(found) - {"pending.json"}
    return found


# --- identity ---------------------------------------------------------------------------------


def test_the_id_of_a_foreign_call_is_its_file():
    file = FileBytes(b"{}", FileIdentity(7, 8, 9_000_000_001, 2, 0, 0, 0o100644))
    text = (
        "lineclear-foreign-v1\n"
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n"
        "7\n8\n9000000001\n2\ncall_1\n"
    )
    assert foreign_aid(file, "call_1") == hashlib.sha256(text.encode()).hexdigest()[:32]
    assert foreign_aid(file, "") != foreign_aid(file, "call_1")


def test_the_same_call_written_again_is_another_one(bot):
    first = only(bot)
    assert only(bot).aid == first.aid
    writes(bot.path, SMALL)
    assert only(bot).raw == first.raw
    assert only(bot).aid != first.aid


def test_showing_says_where_and_what(bot):
    shown = only(bot)
    assert shown.raw == SMALL
    assert shown.sha256 == hashlib.sha256(SMALL).hexdigest()
    assert shown.store == bot.path
    assert shown.path == bot.path / "pending.json"
    assert shown.seq is None
    assert shown.block is None
    assert shown.call is not None
    assert shown.call.tool == "delete_file"
    assert show_foreign(bot.path / "pending.json") == [shown]
    assert [p.name for p in bot.path.iterdir()] == ["pending.json"]


def test_what_cannot_be_shown(bot, tmp_path):
    path = bot.path / "pending.json"

    def code():
        with pytest.raises(Unreadable) as why:
            show_foreign(path)
        return why.value.code

    os.link(path, tmp_path / "second_name")
    assert code() == "hard_linked"
    (tmp_path / "second_name").unlink()
    path.chmod(0o666)
    assert code() == "writable_by_others"
    put(path, b"{", 0o644)
    assert code() == "not_json"
    path.unlink()
    path.symlink_to(tmp_path)
    assert code() == "symlink"
    path.unlink()
    assert code() == "absent"
    with pytest.raises(Unreadable):
        show_foreign(bot.path / "pending.json.tmp")


def test_a_store_left_under_a_umask_of_0002_is_decided_and_its_ledger_stays_the_operators(bot):
    path = bot.path / "pending.json"
    bot.path.chmod(0o775)
    path.chmod(0o664)
    if others_may_write(bot.path.stat()):
        pytest.skip("the group of this user has other members")
    (shown,) = show_foreign(path)
    with Store.open(bot.path) as store:
        say(store, shown, "approve")
    assert stat.S_IMODE((bot.path / ".approvals").stat().st_mode) == 0o700
    with Store.open(bot.path) as store:
        assert store.records(None, shown.aid).decision is not None
        assert store.group is None


def test_nothing_is_shown_from_a_folder_that_others_may_write(bot):
    bot.path.chmod(0o777)
    with pytest.raises(StoreRefused) as why:
        show_foreign(bot.path / "pending.json")
    assert why.value.code == "writable_by_others"


def test_pending_json_of_a_native_store_is_no_checkpoint_to_decide(store):
    put(store.path / "pending.json", SMALL)
    with pytest.raises(Unreadable) as why:
        show_foreign(store.path / "pending.json")
    assert why.value.code == "native_store"


# --- deciding ---------------------------------------------------------------------------------


def test_a_decision_keeps_the_bytes_and_speaks_the_systems_language(bot):
    shown = only(bot)
    before = (bot.path / "pending.json").stat()
    say(bot, shown, "modify", arguments={"path": "/tmp/b"}, note="narrowed")
    assert record(bot, f"{shown.aid}.request.json").read_bytes() == SMALL
    written = json.loads(record(bot, f"{shown.aid}.decision.json").read_bytes())
    assert written["native"] == {"Modify": {"arguments": {"path": "/tmp/b"}, "note": "narrowed"}}
    assert written["file_sha256"] == written["request_sha256"] == shown.sha256
    assert "store_id" not in written
    assert "seq" not in written
    after = (bot.path / "pending.json").stat()
    assert (before.st_ino, before.st_ctime_ns) == (after.st_ino, after.st_ctime_ns)


def test_history_outlives_the_file(bot):
    shown = only(bot)
    say(bot, shown, "deny", reason="no")
    (bot.path / "pending.json").unlink()
    records = bot.records(None, shown.aid)
    assert records.request is not None
    assert records.request.raw == SMALL
    assert records.decision is not None
    assert records.decision.native == {"Deny": {"reason": "no"}}
    assert bot.calls() == [(None, shown.aid)]


def test_what_changed_or_went_while_it_was_read_is_not_decided(bot):
    shown = only(bot)
    writes(bot.path, OTHER)
    refused("changed", say, bot, shown, "approve")
    writes(bot.path, SMALL)  # the same bytes: the agent's next call, not the one that was shown
    refused("changed", say, bot, shown, "approve")
    (bot.path / "pending.json").unlink()
    refused("gone", say, bot, shown, "approve")
    assert not (bot.path / ".approvals").exists()


def test_the_second_operator_is_told(bot):
    shown = only(bot)
    say(bot, shown, "deny")
    with Store.open(bot.path) as other, pytest.raises(AlreadyDecided, match="denied by bob"):
        say(other, shown, "approve")


def test_a_verdict_that_the_system_does_not_know_is_refused(bot):
    refused("unsupported", say, bot, only(bot), "result", result="42")
    assert not (bot.path / ".approvals").exists()


def test_an_altered_copy_of_the_request_is_noticed(bot):
    shown = only(bot)
    bot.begin_foreign_ledger()
    put(record(bot, f"{shown.aid}.request.json"), OTHER)
    refused("changed", say, bot, shown, "approve")
    assert not record(bot, f"{shown.aid}.decision.json").exists()


# --- claiming ---------------------------------------------------------------------------------


def approved(store: Store) -> Shown:
    shown = only(store)
    say(store, shown, "approve")
    return shown


def test_a_claim_moves_the_file_and_keeps_what_it_is(bot):
    shown = approved(bot)
    claimed = claim(bot, shown)
    assert claimed.folder == bot.path / ".approvals" / "claimed" / shown.aid
    assert checkpoints(bot) == {f".approvals/claimed/{shown.aid}/pending.json": SMALL}
    again = only(bot, claimed.checkpoint)
    assert again.aid == shown.aid
    assert again.store == bot.path
    assert show_foreign(claimed.checkpoint) == [again]
    for part in (claimed.folder, claimed.folder.parent):
        assert part.stat().st_mode & 0o7777 == 0o700


def test_claiming_what_is_claimed_gives_it_again(bot):
    shown = approved(bot)
    first = claim(bot, shown)
    assert claim(bot, shown) == first
    moved = only(bot, first.checkpoint)
    assert claim(bot, moved).checkpoint == first.checkpoint


def test_a_file_that_came_meanwhile_is_put_back(bot):
    shown = approved(bot)
    writes(bot.path, SMALL)
    refused("changed", claim, bot, shown)
    assert checkpoints(bot) == {"pending.json": SMALL}
    assert only(bot).aid != shown.aid


def test_a_file_that_is_gone_cannot_be_claimed(bot):
    shown = approved(bot)
    (bot.path / "pending.json").unlink()
    refused("gone", claim, bot, shown)
    assert checkpoints(bot) == {}


def test_a_claimed_file_whose_agent_went_on_is_another_call(bot):
    shown = approved(bot)
    claimed = claim(bot, shown)
    writes(claimed.folder, OTHER)  # the agent resumed there saved its next call
    refused("superseded", claim, bot, shown)
    following = only(bot, claimed.checkpoint)
    assert following.store == bot.path
    assert following.aid != shown.aid
    say(bot, following, "approve")
    moved = claim(bot, following)
    # In the store's own ledger again: folders do not nest with each relaunch.
    assert moved.folder == bot.path / ".approvals" / "claimed" / following.aid


def test_a_started_call_is_not_claimed(bot):
    shown = approved(bot)
    claimed = claim(bot, shown)
    assert begin(bot, claimed.shown, verified(bot, claimed.shown))
    refused("started", claim, bot, shown)
    refused("started", put_back, bot, claimed)


def test_putting_back(bot):
    claimed = claim(bot, approved(bot))
    put_back(bot, claimed)
    assert checkpoints(bot) == {"pending.json": SMALL}
    assert only(bot).aid == claimed.shown.aid
    assert not claimed.folder.exists()
    refused("gone", put_back, bot, claimed)


def test_putting_back_never_covers_a_newer_one(bot):
    claimed = claim(bot, approved(bot))
    writes(bot.path, OTHER)
    refused("superseded", put_back, bot, claimed)
    assert checkpoints(bot) == {
        "pending.json": OTHER,
        f".approvals/claimed/{claimed.shown.aid}/pending.json": SMALL,
    }


def test_a_claimed_file_that_changed_is_not_put_back(bot):
    claimed = claim(bot, approved(bot))
    writes(claimed.folder, OTHER)
    refused("changed", put_back, bot, claimed)


@pytest.mark.parametrize("rounds", range(20))
def test_two_claims_at_once_and_a_writer_lose_nothing_and_start_once(bot, rounds):
    shown = approved(bot)
    gate = threading.Barrier(3)
    ended = []

    def launcher():
        with Store.open(bot.path) as store:
            gate.wait()
            try:
                claimed = claim(store, shown)
                found = read_decision(store, claimed.shown)
                won = isinstance(found, Verified) and begin(store, claimed.shown, found)
                # Not the code of a refusal: `started` says that the other one was first.
                ended.append("began" if won else "lost")
            except Refusal as why:
                ended.append(why.code)

    def writer():
        gate.wait()
        writes(bot.path, OTHER)

    threads = [threading.Thread(target=t) for t in (launcher, launcher, writer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == 2
    found = list(checkpoints(bot).values())
    assert OTHER in found
    # The old one was either claimed and started, or covered by its own writer.
    assert ended.count("began") == found.count(SMALL) <= 1, ended


def test_a_link_in_place_of_the_claimed_folder_is_not_followed(bot, tmp_path):
    shown = approved(bot)
    (tmp_path / "trap").mkdir()
    (bot.path / ".approvals" / "claimed").symlink_to(tmp_path / "trap")
    with pytest.raises(Unreadable) as why:
        claim(bot, shown)
    assert why.value.code == "symlink"
    assert checkpoints_in(tmp_path / "trap") == []
    assert (bot.path / "pending.json").exists()


def checkpoints_in(folder: Path) -> list[Path]:
    return list(folder.rglob("pending.json"))


# --- the run ----------------------------------------------------------------------------------


def state_of(store: Store, shown: Shown) -> State:
    return observe(store, None, shown.aid, read_now(), lock=Process.UNKNOWN)[1].state


def test_the_life_of_a_foreign_call(bot):
    shown = only(bot)
    undecided = read_decision(bot, shown)
    assert isinstance(undecided, Unfit)
    assert undecided.code == "request_gone"
    say(bot, shown, "approve")
    assert state_of(bot, shown) is State.APPROVED
    claimed = claim(bot, shown)
    found = verified(bot, claimed.shown)
    assert found.arguments == {"path": "/etc/hosts"}
    assert begin(bot, claimed.shown, found)
    assert state_of(bot, shown) is State.RUNNING
    assert finish(bot, claimed.shown, "ok", result="last output", exit_code=0) == "recorded"
    assert state_of(bot, shown) is State.DONE
    records = bot.records(None, shown.aid)
    assert result_text(bot, records) == "last output"
    assert records.outcome is not None
    assert records.outcome.exit_code == 0
    assert claimed.checkpoint.exists()


def test_one_byte_of_a_foreign_decision(bot):
    shown = approved(bot)
    file = record(bot, f"{shown.aid}.decision.json")
    change(file, file_sha256="0" * 64)
    found = read_decision(bot, shown)
    assert isinstance(found, Unfit)
    assert found.code == "file_changed"
    change(file, file_sha256=shown.sha256, aid="0" * 32)
    found = read_decision(bot, shown)
    assert isinstance(found, Unfit)
    assert found.code == "wrong_aid"
    file.unlink()
    assert read_decision(bot, shown) == Waiting()


def test_a_foreign_start_of_a_dead_launcher_is_uncertain_until_resolved(bot):
    shown = only(bot)
    start_of_a_dead_process(bot, shown)
    assert state_of(bot, shown) is State.UNCERTAIN
    resolve(bot, shown, "not_run", BOB, note="looked")
    assert state_of(bot, shown) is State.DONE


def test_a_foreign_approval_is_taken_back_and_the_file_stays(bot):
    shown = approved(bot)
    take_back(bot, shown, BOB)
    assert isinstance(read_decision(bot, shown), Observed)
    assert (bot.path / "pending.json").read_bytes() == SMALL


def test_a_claimed_folder_is_where_its_agent_loads_from(bot):
    claimed = claim(bot, approved(bot))
    assert isinstance(claimed, Claimed)
    assert (claimed.folder / "pending.json").read_bytes() == SMALL
