"""The folder of a worker's lock, where whoever runs in the store puts a link in its place."""

import pytest

from lineclear.core.ledger.layout import APPROVALS, LOCK, WORKERS
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.worker import working
from tests import badinputs


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "bot"
    folder.mkdir(mode=0o700)
    badinputs.put(folder / "pending.json", badinputs.encoded())
    with Store.open(folder) as opened:
        opened.begin_foreign_ledger()
        yield opened


def test_a_worker_that_ends_leaves_no_lock(store):
    with working(store):
        assert len(list((store.path / APPROVALS / WORKERS).iterdir())) == 1
    assert list((store.path / APPROVALS / WORKERS).iterdir()) == []


def test_nothing_is_removed_where_a_link_in_the_place_of_its_folder_leads(store, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / LOCK).write_text("precious")
    with working(store):
        (folder,) = (store.path / APPROVALS / WORKERS).iterdir()
        folder.rename(tmp_path / "moved")
        folder.symlink_to(elsewhere)
    assert (elsewhere / LOCK).read_text() == "precious"


def test_nothing_is_removed_where_a_link_in_the_place_of_all_workers_leads(store, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    with working(store):
        workers = store.path / APPROVALS / WORKERS
        (folder,) = workers.iterdir()
        (elsewhere / folder.name).mkdir(parents=True)
        (elsewhere / folder.name / LOCK).write_text("precious")
        workers.rename(tmp_path / "moved")
        workers.symlink_to(elsewhere)
    assert (elsewhere / folder.name / LOCK).read_text() == "precious"
