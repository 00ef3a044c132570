"""Long checkpoints are parsed once while they are held, by their bytes and nothing else."""

import gc

import pytest

from lineclear.core.checkpoints.parsed import held, parsed
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import Unreadable
from tests import badinputs

RAW = (badinputs.FIXTURES / "a3s" / "small_one_round.json").read_bytes()
LONG = RAW + b" " * (256 << 10)


class Parser:
    """Parses, and counts it."""

    def __init__(self):
        self.calls = 0

    def __call__(self, raw):
        self.calls += 1
        return read_checkpoint(raw)


def test_equal_bytes_are_parsed_once_while_somebody_holds_the_result():
    parse = Parser()
    first = parsed(LONG, parse)
    assert parsed(bytes(bytearray(LONG)), parse) is first
    assert parse.calls == 1
    assert parsed(LONG + b"\n", parse).sha256 != first.sha256
    assert parse.calls == 2
    del first
    gc.collect()
    parsed(LONG, parse)
    assert parse.calls == 3


def test_within_one_act_the_last_ones_are_held():
    parse = Parser()
    with held():
        for _ in range(3):
            parsed(LONG, parse)
        assert parse.calls == 1
    gc.collect()
    parsed(LONG, parse)
    assert parse.calls == 2


def test_a_name_that_does_not_fit_is_refused_whoever_parsed_the_bytes():
    known = read_checkpoint(LONG)
    with pytest.raises(Unreadable) as refused:
        read_checkpoint(LONG, name="id_b3RoZXI.json")
    assert (known.system, refused.value.code) == ("a3s", "key_mismatch")
