"""What is told of many folders at once stays short; the list has them all."""

from pathlib import Path

from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.ui.frame.folder_words import in_short, sentences


def missing(number: int) -> list[SourceHealth]:
    paths = [Path(f"/srv/bots{each}") for each in range(number)]
    return [SourceHealth(path, ok=False, sentence=f"{path} is missing.") for path in paths]


def test_few_are_told_whole():
    assert in_short(missing(3)) == " ".join(sentences(missing(3)))


def test_of_many_the_first_are_told_and_the_others_counted():
    told = in_short(missing(200))
    assert told.startswith("/srv/bots0 is missing. /srv/bots1 is missing.")
    assert told.endswith("197 more folders are listed.")
    assert len(sentences(missing(200))) == 200
