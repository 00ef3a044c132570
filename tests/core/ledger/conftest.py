"""A lane as its agent holds it, and as an operator's window opens it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.core.ledger.store import Store


@pytest.fixture
def lane(tmp_path: Path) -> Path:
    return tmp_path / "agents" / "refund-bot" / "1"


@pytest.fixture
def store(lane: Path) -> Iterator[Store]:
    with Store.create(lane) as opened:
        yield opened


@pytest.fixture
def desk(store: Store) -> Iterator[Store]:
    with Store.open(store.path) as opened:
        yield opened
