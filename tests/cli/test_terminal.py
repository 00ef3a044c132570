import io
import json

import pytest

from lineclear.cli.terminal import Styled, Terminal, json_text, printable
from lineclear.core.checkpoints import jsontext


class Tty(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    "text,shown",
    [
        ("plain\nlines", "plain\nlines"),
        ("\x1b[31mred", "⟦U+001B⟧[31mred"),
        ("a\rb\tc", "a⟦U+000D⟧b⟦U+0009⟧c"),
        ("\x9b2J", "⟦U+009B⟧2J"),
        ("txt\u202eexe", "txt⟦U+202E⟧exe"),
        ("\u200b\ufeff\u2028", "⟦U+200B⟧⟦U+FEFF⟧⟦U+2028⟧"),
        ("\udcff", "⟦U+DCFF⟧"),
        ("Ünïcode 漢字 ✓", "Ünïcode 漢字 ✓"),
    ],
)
def test_nothing_that_a_terminal_obeys_is_written(text, shown):
    assert printable(text) == shown


def test_colour_only_on_a_terminal_and_not_against_the_users_will():
    for stream, environ, coloured in [
        (Tty(), {}, True),
        (Tty(), {"NO_COLOR": "1"}, False),
        (Tty(), {"NO_COLOR": ""}, True),
        (Tty(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ]:
        Terminal(stream, None, environ=environ).say("a ", Styled("b\x1b", "stop"))
        expected = "a \x1b[31mb⟦U+001B⟧\x1b[0m\n" if coloured else "a b⟦U+001B⟧\n"
        assert stream.getvalue() == expected


def test_a_locale_that_lacks_a_character_gets_its_number():
    raw = io.BytesIO()
    terminal = Terminal(io.TextIOWrapper(raw, encoding="latin-1"), None)
    terminal.say("é → ⟦")
    terminal.flush()
    assert raw.getvalue() == b"\xe9 \\u2192 \\u27e6\n"


def test_without_streams_nothing_is_written_and_nothing_fails():
    terminal = Terminal(None, None)
    terminal.say("a")
    terminal.complain("b")
    terminal.flush()


def test_json_is_ascii_and_keeps_numbers_as_they_stood():
    text = '{"a":1.00,"b":1E+2,"c":18446744073709551615,"d":"\\u202e\\u007fé\\ud83d\\ude00"}'
    value = jsontext.parse(text.encode())
    written = json_text(value)
    assert written == (
        '{"a":1.00,"b":1E+2,"c":18446744073709551615,"d":"\\u202e\\u007f\\u00e9\\ud83d\\ude00"}'
    )
    assert json.loads(written)["d"] == "\u202e\x7fé😀"


def test_json_takes_arguments_as_deep_as_a_checkpoint_may_nest():
    deep: object = 1
    for _ in range(127):
        deep = [deep]
    assert json.loads(json_text([{"arguments": deep}]))
