"""What would go is shown, and exactly that goes."""

from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.rows import old_records
from lineclear.core.inbox.watching.scan import scan_once
from tests.core.inbox.agents import call
from tests.core.inbox.history.ledgers import ran

SOON = datetime.now(UTC) + timedelta(days=40)


@pytest.fixture
def source(tmp_path):
    for lane, count in (("1", 3), ("2", 1)):
        for number in range(count):
            ran(tmp_path / "bot" / lane, said=call("tool\u202e", {"n": number}))
    return tmp_path


def stores(source):
    settings = Settings(sources=(SourceSetting(path=source),))
    return old_records.stores_of(scan_once(settings, settings.sources))


def test_looking_names_each_call_and_touches_nothing(source):
    before = sorted(source.rglob("*"))
    found = old_records.look(stores(source), 30, SOON)
    assert [(one.store.name, one.seq) for one in found.calls] == [("1", 1), ("1", 2)]
    assert found.size == sum(one.size for one in found.calls) > 1000
    assert "tool\u27e6U+202E\u27e7" in found.lines()[0]
    assert sorted(source.rglob("*")) == before
    assert old_records.look(stores(source), 30).calls == ()


def test_what_changed_since_the_look_stays(source, monkeypatch):
    found = old_records.look(stores(source), 30, SOON)
    # Too young now: what is removed is looked at once more.
    assert old_records.remove(found) == 0
    assert len(list((source / "bot" / "1" / ".approvals").glob("*.request.json"))) == 3


def test_a_store_that_cannot_be_read_is_told(source):
    lost = source / "gone"
    found = old_records.look([*stores(source), lost], 30, SOON)
    assert len(found.calls) == 2
    assert str(lost) in found.left[0]
