"""The Changes tab, and what was beside what is in the fields."""

from lineclear.core.checkpoints import jsontext
from lineclear.core.inbox.comparing.comparison import differences
from lineclear.core.inbox.comparing.last_approved import Comparison
from lineclear.core.inbox.deciding.path import operator
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.store import Store
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.row_table import Role
from lineclear.ui.reading.changed_text import changed_text, same_ends
from tests.ui.sample import NOW, a_decision, a_row, ask_for


def compared(before, after, *, approved=True, same_tool=True):
    other = a_row(2, agent="bot", arguments=before, decision=a_decision() if approved else None)
    changes = tuple(differences(before, after)) if same_tool else ()
    one = Comparison(approved, other, same_tool, changes)
    return changed_text((one,), after, NOW)


def marked(made, line):
    return {
        kind: made.lines[line][start : start + length]
        for start, length, kind in made.spans.get(line, ())
    }


def test_was_and_is_stand_on_one_line_where_they_are_short():
    before = jsontext.parse(b'{"amount": 80.00, "to": "a", "gone": 1}')
    after = jsontext.parse(b'{"amount": 120.00, "to": "a", "new": [1]}')
    made = compared(before, after)
    assert made.lines[0].startswith("send_refund of bot as ann (uid 1000) approved it last, ")
    assert made.lines[1:] == [
        "3 differ",
        "",
        "amount",
        "    80.00 \u2192 120.00",
        "",
        "gone",
        "    removed 1",
        "",
        "new",
        "    added   [1]",
    ]
    assert marked(made, 4) == {"removed": "80.00", "added": "120.00"}


def test_only_what_differs_in_a_long_text_is_marked():
    text = "Please refund the whole order, it was delivered damaged and the customer waits for it. "
    made = compared({"note": text * 3}, {"note": text * 2 + text.replace("waits", "w\u202eaited")})
    was, now = made.lines[4:6]
    assert was.startswith('    was     "\u27e6')
    assert "the same\u27e7" in was
    assert marked(made, 4)["removed"] == "waits"
    assert "\u27e6U+202E\u27e7" in now
    assert "\u202e" not in made.text()


def test_secrets_are_masked_and_an_unchanged_part_says_so():
    before = {"token": "abcdef", "url": "https://a:secret1@x/"}
    after = {"token": "ghijkl", "url": "https://a:secret2@x/"}
    text = compared(before, after).text()
    for secret in ("abcdef", "ghijkl", "secret1", "secret2"):
        assert secret not in text
    assert text.count("\u2022\u2022\u2022\u2022 6 characters") == 2


def test_nothing_in_a_value_or_key_begins_a_line_of_ours():
    forged = "x\nsend_refund of bot as ann approved it last\nNothing differs."
    made = compared({}, {"note": forged, "a\nNothing differs.": 1})
    assert "Nothing differs." not in made.lines
    assert len([line for line in made.lines if line.startswith("send_refund of bot")]) == 1


def test_another_tool_is_not_compared_and_nothing_is_said_as_nothing():
    made = compared({"a": 1}, {"b": 1}, approved=False, same_tool=False)
    assert made.lines[0].startswith("This run's previous call: send_refund")
    assert made.lines[1] == "Another tool: there is nothing to compare field by field."
    assert compared({"a": 1}, {"a": 1}).lines[1] == "Nothing differs."


def test_large_texts_take_no_long_time():
    one, other = "ab" * 2_000_000, "ab" * 1_000_000 + "X" + "ab" * 1_000_000
    assert same_ends(one, other) == (2_000_000, 2_000_000)
    made = compared({"a": one, "l": list(range(9000))}, {"a": other, "l": list(range(1, 9001))})
    assert max(map(len, made.lines)) < 4_000


async def test_the_pane_tells_what_differs_from_the_last_approved_call(inbox, source, until):
    first = ask_for(source, arguments={"customer": "C-1", "amount": 80})
    with Store.open(first.shown.store) as store:
        decide(store, first.shown, Verdict("approve"), operator(Settings()), valid_for_s=900)
        found = read_decision(store, first.shown)
        assert isinstance(found, Verified)
        assert begin(store, first.shown, found)
        finish(store, first.shown, "ok", result="Done.")
    ask_for(source, arguments={"customer": "C-1", "amount": 120})
    await until(inbox.model.rowCount)
    inbox.table.step(1)
    await until(lambda: inbox.flow.view.prepared is not None)
    pane, second = inbox.pane, inbox.flow.view.row
    assert second.seq == 2
    assert pane.tabs.tabText(pane.tabs.indexOf(pane.changes)) == "Changes 1"
    cells = [text for place, _, text in pane.call.fields.cells() if place.column() == 1]
    assert cells == ['"C-1"', "120   \u2190 was 80"]
    pane.tabs.setCurrentWidget(pane.changes)
    await until(lambda: "80 \u2192 120" in pane.changes.text.toPlainText())
    assert inbox._bridge.known.differing(second) == 1
    # In the table's row the changed field stands first.
    cell = inbox.model.index(inbox.model.position(second.id), Column.ARGUMENTS)
    assert cell.data() == 'amount=120  customer="C-1"'
    assert cell.data(Role.CHANGED) == ("amount",)
