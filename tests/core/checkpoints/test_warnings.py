from typing import Any

import pytest

from lineclear.core.checkpoints.jsontext import pretty
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.checkpoints.warnings import (
    LEVELS,
    SENTENCES,
    Level,
    call_warnings,
    strongest_first,
)
from tests.badinputs import document


def codes(arguments: Any = None, tool: str = "bash", **fields: Any) -> tuple[str, ...]:
    raw = pretty(document(tool_name=tool, arguments=arguments, **fields))
    checkpoint = read_checkpoint(raw)
    return call_warnings(checkpoint, checkpoint.calls[0])


@pytest.mark.parametrize(
    "level, members",
    [
        (Level.BLOCKED, "unreadable unsafe_folder damaged changed marked_cut moved call_missing"),
        (
            Level.STOP,
            "invisible control marker_char mixed_scripts twin arguments_differ answers_no_call",
        ),
        (Level.STOP, "may_be_running handed_over_before"),
        (
            Level.CARE,
            (
                "first_time repeats_finished_call old foreign last_of_budget big_number long_line"
                " many_lines padding file_changed projection_differs claimed resume_failed"
            ),
        ),
        (Level.NOTE, "rtl odd_space extra_field same_user"),
    ],
)
def test_each_code_stands_on_its_step_of_the_ladder(level: Level, members: str):
    assert {LEVELS[code] for code in members.split()} == {level}


def test_each_code_has_one_short_sentence():
    assert SENTENCES.keys() == LEVELS.keys()
    assert all(s.endswith(".") and len(s) < 90 and s.isprintable() for s in SENTENCES.values())


def test_an_ordinary_call_raises_nothing():
    assert (
        codes({"path": "/srv/données/日本.txt", "text": "Привет Bob, ça va? 😀", "n": 2**53 - 1})
        == ()
    )


def test_the_strongest_comes_first_and_each_once():
    found = codes({"a": "x\u202e", "b": "y\u202e\x1b", "c": 2**53, "d": "\u05d0"}, approved=True)
    assert found == ("control", "invisible", "big_number", "extra_field", "rtl")
    assert strongest_first(["rtl", "old", "twin", "changed", "old"]) == (
        "changed",
        "twin",
        "old",
        "rtl",
    )


@pytest.mark.parametrize(
    "tool, found",
    [
        ("mcp:files/read-v2.1_x", ()),
        ("send money", ("odd_tool_name",)),
        ("bash\n", ("odd_tool_name",)),
        ("b\xe4sh", ("odd_tool_name",)),
        ("\uff42\uff41\uff53\uff48", ("mixed_scripts",)),
        ("\u0441\u043e\u0440\u0443", ("mixed_scripts",)),
        ("re\u0430d_file", ("mixed_scripts",)),
        ("read_\u0430\u0440\u0440", ("mixed_scripts",)),
        ("bash\u200b", ("invisible",)),
        ("bash\u200d", ("invisible",)),
        ("bash\r\n", ("control",)),
        ("bash ⟦x⟧", ("marker_char",)),
        ("\u05d0\u05d1", ("odd_tool_name", "rtl")),
        ("ba\xa0sh", ("odd_tool_name", "odd_space")),
    ],
)
def test_tool_names(tool: str, found: tuple[str, ...]):
    assert codes({}, tool=tool) == found


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": "b\u043eb"},
        {"url": "see https://p\u0430ypal.com/login now"},
        {"url": "go to https://\u0430\u0440\u0440\u04cf\u0435.com now"},
        {"to": "write to bob@ex\u0430mple.com please"},
        {"to": "write to bob@\u0430\u0440\u0440.com please"},
        {"note": "copy it to /etc/p\u0430sswd and leave"},
        {"note": "in C:\\Us\u0435rs\\bob today"},
        {"note": "host build.ex\u0430mple.com is down"},
        {"cmd": "g\u0456t push --force"},
        {"argv": ["rm", "-rf", "b\u0443ild dir"]},
        {"p\u0430th": 1},
        "b\u043eb",
    ],
)
def test_alphabets_mixed_in_a_name_host_path_or_address_are_a_stop(arguments: Any):
    assert codes(arguments) == ("mixed_scripts",)


@pytest.mark.parametrize(
    "arguments",
    [
        {"note": "Отчёт для Bob: файл готов"},
        {"path": "/home/bob/документы/report.txt"},
        {"path": "отчёт_final.pdf"},
        {"note": "a step of 10 \u03bcm, \u0394t and \u03bbx"},
        {"note": "日本語text and ＡＢＣ here"},  # noqa: RUF001
        {"cmd": "echo привет | tee out.txt"},
    ],
)
def test_people_who_write_in_two_alphabets_are_not_punished(arguments: Any):
    assert codes(arguments) == ()


@pytest.mark.parametrize(
    "arguments, found",
    [
        ({"n": 2**53}, ("big_number",)),
        ({"n": [-(2**53)]}, ("big_number",)),
        ({"n": 1e300, "t": "9007199254740993"}, ()),
        ({"t": "x" * 2001}, ("long_line",)),
        ({"t": "x\n" * 200}, ("many_lines",)),
        ({"t": "a" + " " * 40 + "b"}, ("padding",)),
        ({"t": "a\u0301\u0301\u0301\u0301\u0301"}, ("combining",)),
        ({"t": "a\r\nb"}, ("crlf",)),
        ({"t": "⚠\ufe0f done"}, ("joiner",)),
        ({"k\u202e": 1}, ("invisible",)),
        (["a", ["b\x07"]], ("control",)),
        ("plain", ()),
    ],
)
def test_arguments_of_any_shape_are_looked_through(arguments: Any, found: tuple[str, ...]):
    assert codes(arguments) == found


def test_counters_too_large_for_others_are_warned_of():
    assert codes({}, tokens_consumed=2**53) == ("big_number",)
    assert codes({}, iteration=2**64 - 1) == ("big_number",)
