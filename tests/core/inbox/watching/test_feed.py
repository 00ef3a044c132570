"""Diffs: applying them gives exactly the rows, and they are no larger than the change."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff, Feed, split
from lineclear.core.inbox.watching.scan import StoreRows
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State


def row(row_id, store="a", *, state=State.PENDING, same=None, preview="", **more):
    return Row(
        id=row_id,
        system="lineclear",
        state=state,
        source=Path("/srv"),
        store=Path("/srv") / store,
        agent="bot",
        run="r",
        same=same,
        preview=preview,
        **more,
    )


def stores(**rows):
    return [StoreRows(Path("/srv") / name, tuple(of)) for name, of in rows.items()]


def ids(rows):
    return sorted(each.id for each in rows)


def apply(rows, diff):
    for gone in diff.removed:
        del rows[gone]
    for each in diff.changed:
        assert rows[each.id] != each
        rows[each.id] = each
    for each in diff.added:
        assert each.id not in rows
        rows[each.id] = each


def test_first_rows_are_added_and_the_same_again_is_nothing():
    feed = Feed()
    assert ids(feed.update(stores(a=[row("1"), row("2")])).added) == ["1", "2"]
    assert not feed.update(stores(a=[row("1"), row("2")]))


def test_only_what_changed_is_given():
    feed = Feed()
    feed.update(stores(a=[row("1"), row("2")], b=[row("3", "b")]))
    diff = feed.update(stores(a=[row("1", state=State.DENIED), row("2")]))
    assert (ids(diff.added), ids(diff.changed), diff.removed) == ([], ["1"], ())


def test_a_vanished_store_takes_its_rows_along():
    feed = Feed()
    feed.update(stores(a=[row("1"), row("2")]))
    assert sorted(feed.update(stores(a=[])).removed) == ["1", "2"]
    assert feed.rows() == []


def test_twins_across_stores_are_marked_both_and_unmarked():
    feed = Feed()
    feed.update(stores(a=[row("1", same="x")]))
    diff = feed.update(stores(b=[row("2", "b", same="x")]))
    assert [each.warnings for each in diff.added] == [("twin",)]
    assert [(each.id, each.warnings) for each in diff.changed] == [("1", ("twin",))]
    diff = feed.update(stores(b=[row("2", "b", same="x", state=State.DENIED)]))
    assert {each.id: each.warnings for each in diff.changed} == {"1": (), "2": ()}


def test_a_call_that_may_have_run_makes_the_waiting_one_a_twin():
    feed = Feed()
    feed.update(stores(a=[row("1", same="x", state=State.UNCERTAIN)]))
    (added,) = feed.update(stores(b=[row("2", "b", same="x")])).added
    assert added.warnings == ("twin",)
    assert next(each for each in feed.rows() if each.id == "1").warnings == ()


def test_a_third_twin_changes_nothing_else():
    feed = Feed()
    feed.update(stores(a=[row("1", same="x")], b=[row("2", "b", same="x")]))
    diff = feed.update(stores(c=[row("3", "c", same="x")]))
    assert (ids(diff.added), diff.changed) == (["3"], ())


def test_a_copied_id_is_shown_but_cannot_be_decided():
    feed = Feed()
    feed.update(stores(a=[row("1")]))
    (copy,) = feed.update(stores(b=[row("1", "b")])).added
    assert copy.state is State.UNREADABLE
    assert copy.reason_code == "duplicate_id"
    assert (copy.id != "1", len(copy.id)) == (True, 64)
    diff = feed.update(stores(a=[]))
    assert diff.removed == (copy.id,)
    assert [(each.id, each.state) for each in diff.changed] == [("1", State.PENDING)]


def test_of_copies_in_folders_of_two_owners_none_is_decided():
    feed = Feed()
    feed.update(stores(b=[row("1", "b", user=7, process=Process.ALIVE)]))
    diff = feed.update(stores(a=[row("1", user=8)]))
    assert diff.removed == ("1",)
    told = {each.store.name: each for each in diff.added}
    assert {each.state for each in told.values()} == {State.UNREADABLE}
    assert len({"1", *ids(told.values())}) == 3
    assert {each.call_id for each in told.values()} == {"1"}
    assert told["a"].reason == (
        "A call with the same id, 1, is in /srv/a (of user 8) and in /srv/b (of user 7): one is a"
        " copy. None of them can be decided or resumed; remove the copy, as its owner or as root."
    )
    diff = feed.update(stores(a=[]))
    assert sorted(diff.removed) == ids(told.values())
    assert [(each.id, each.call_id, each.state) for each in diff.added] == [
        ("1", None, State.PENDING)
    ]


def test_of_copies_of_one_owner_the_one_whose_agent_lives_is_decided():
    feed = Feed()
    feed.update(stores(a=[row("1")], b=[row("1", "b", process=Process.ALIVE)]))
    by_store = {each.store.name: each for each in feed.rows()}
    assert (by_store["b"].id, by_store["b"].state) == ("1", State.PENDING)
    assert by_store["a"].state is State.UNREADABLE
    assert (by_store["a"].reason or "").endswith("The one in /srv/b is decided; remove the copy.")
    feed.update(stores(a=[row("1", process=Process.ALIVE)]))
    assert {each.state for each in feed.rows()} == {State.UNREADABLE}
    assert "1" not in ids(feed.rows())


def test_a_folder_that_stands_at_two_places_is_no_copy_of_itself(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    feed = Feed()
    for name in "ba":
        one = replace(row("1", process=Process.ALIVE), store=tmp_path / name)
        feed.update([StoreRows(tmp_path / name, (one,))])
    by_store = {each.store.name: each for each in feed.rows()}
    assert (by_store["b"].id, by_store["b"].state) == ("1", State.PENDING)
    assert by_store["a"].state is State.UNREADABLE


def test_many_copies_are_counted():
    feed = Feed()
    feed.update(stores(**{name: [row("1", name, user=ord(name))] for name in "abcd"}))
    assert all("It is in 2 more folders too." in str(each.reason) for each in feed.rows())


def test_a_call_that_moves_between_stores_keeps_its_row():
    feed = Feed()
    feed.update(stores(a=[row("1")]))
    diff = feed.update(stores(b=[row("1", "b")], a=[]))
    assert (diff.added, ids(diff.changed), diff.removed) == ((), ["1"], ())


def test_split_gives_parts_that_add_up():
    diff = Diff(
        added=tuple(row(str(number)) for number in range(7)),
        changed=(row("c"),),
        removed=("x", "y"),
        health=(),
        complete=True,
    )
    parts = list(split(diff, 4))
    assert [len(p.added) + len(p.changed) + len(p.removed) for p in parts] == [4, 4, 2]
    assert [p.complete for p in parts] == [False, False, True]
    assert [p.health for p in parts] == [None, None, ()]
    assert ids(each for p in parts for each in p.added) == ids(diff.added)
    assert tuple(gone for p in parts for gone in p.removed) == diff.removed


def test_split_of_health_alone_is_one_part():
    assert list(split(Diff(health=()), 500)) == [Diff(health=())]


any_row = st.builds(
    row,
    st.sampled_from("123456"),
    state=st.sampled_from([State.PENDING, State.RUNNING, State.DONE, State.DENIED]),
    same=st.sampled_from([None, "x", "y"]),
    preview=st.sampled_from(["", "p"]),
)
any_update = st.dictionaries(st.sampled_from("abcd"), st.lists(any_row, max_size=4), max_size=3)


@settings(max_examples=400, deadline=None)
@given(st.lists(any_update, max_size=8))
def test_applying_the_diffs_gives_the_rows(updates):
    feed = Feed()
    held: dict[str, Row] = {}
    last: dict[str, list[Row]] = {}
    for update in updates:
        for part in split(feed.update(stores(**update)), 2):
            apply(held, part)
        last |= update
        assert held == {each.id: each for each in feed.rows()}
        # What a feed shows follows from the stores alone, not from the way there, but for which
        # of two stores with one id came first.
        waiting = [
            each
            for each in held.values()
            if each.state in {State.PENDING, State.RUNNING} and each.same is not None
        ]
        for each in waiting:
            others = [one for one in waiting if one is not each and one.same == each.same]
            assert ("twin" in each.warnings) == (each.state is State.PENDING and bool(others))
        scanned = {each.id for of in last.values() for each in of}
        assert scanned == {each.id for each in held.values() if each.reason_code is None}
