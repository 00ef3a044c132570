"""What is drawn as ASCII and misleads is found at its place; what people write is left alone."""

import time

import pytest

from lineclear.core.checkpoints.characters.misleading import misleading
from lineclear.core.checkpoints.characters.text import reveal, unisolated, visible, visible_line
from lineclear.core.checkpoints.warnings import argument_warnings


def marked(text: str) -> str:
    """Give the text with what misleads in it between angle brackets."""
    found, done = "", 0
    for start, end in misleading(text):
        found += f"{text[done:start]}<{text[start:end]}>"
        done = end
    return found + text[done:]


@pytest.mark.parametrize(
    "shown",
    [
        "https://github.com<\u2215>evil.com/x",
        "https://github.com<\u2044>evil.com/x",
        "https://github.com<\uff0f>evil.com",
        "https://github<\u2024>com/x",
        "https://github<\u3002>com/x",
        "github<\uff0e>com",
        "https://github.com<\uff20>evil",
        "<\u0261>ithub",
        "https://g<\u0131>thub.com/x",
        "https://g<\u2170>thub.<\u217d>om",
        "<\u212a>ube.com",
        "paypa<\u2113>",
        "https://p<\u0430>ypal.com/x",
        "https://<\u0430\u0440\u0440\u04cf\u0435>.\u0441\u043e\u043c/x",
        "user@<\u0430\u0440\u0440\u04cf\u0435>.com",
        "/srv/<\u0441\u043e\u0440\u0443>",
        "--to=<\u0441\u043e\u0440\u0443>",
        "<\u0441\u043e\u0440\u0443> x && <\u0435\u0441\u04bb\u043e>",
        "<\u0421>-1204",
        "read_<\u0430\u0440\u0440>",
        "ls<\u037e> rm",
        "ls<\uff1b> rm",
        "rm <\uff0d>rf <\uff0f>srv",
        "<\uff52\uff4d>",
        "amount=1<\uff10\uff10>",
        "acct-1<\U0001d7ce\U0001d7ce>",
        "pay 1<\u06f0\u06f0>",
        "rm <\u2010>rf",
        "rm <\u2011>rf",
        "rm <\u2212>rf",
        "rm <\u2013>rf",
        "10<\u2011>20",
        "5<\u2212>3",
        "C<\u2013>1204",
        "rm -rf <\u201c>x<\u201d>",
        "host<\u2236> 22",
        "C<\ua789>\\x",
        "rm <\u2217>",
        "a <\u2223> b",
        "a <\uff5c> b",
        "x<\u01c3>",
        "e<\u0336>v<\u0336>i<\u0336>l<\u0336>",
        "a/<\u0301>b",
        "https://<\u0262>ithub.com/x",
        "<\u1d18>aypal",
        "paypa<\u029f>",
        "/srv/<\u1d00>dmin",
        "<\u1d00\u1d05\u1d0d\u026a\u0274>",
        "<\ua730>oo ba<\u0280>",
        "r<\u20dd>m -rf",
        "C<\u20de>-1204",
        "1<\u20dd>00",
        "deploy <\u20e0>prod",
        "a<\u20e3>b",
        "us<\u0489>er",
    ],
)
def test_what_misleads_is_shown_as_its_code_and_asks_for_the_word(shown):
    text = shown.replace("<", "").replace(">", "")
    assert marked(text) == shown
    assert argument_warnings({"value": text})[0] == "mixed_scripts"
    assert argument_warnings({text: 1})[0] == "mixed_scripts"
    escaped = visible_line(f'"{text}"')
    for start, end in misleading(text):
        for character in text[start:end]:
            assert f"\u27e6U+{ord(character):04X}\u27e7" in escaped
    assert reveal(visible(text).text) == text


@pytest.mark.parametrize(
    "text",
    [
        "don\u2019t \u2013 wait\u2026",
        "/srv/prod/\u2026internal/service-1.json",
        "\u201cQuoted,\u201d he said \u2014 it\u2019s 10\u201320 pages, see \u2018x\u2019.",
        "C\u2019est l\u2019API \u2013 n\u2019oubliez pas\u2026",
        "\u041e\u0442\u0447\u0451\u0442 \u0434\u043b\u044f Bob: \u0433\u043e\u0442\u043e\u0432",
        "\u041e\u043d \u0443 \u043e\u0441\u0430, \u0430 \u0440\u043e\u0441\u0430 \u2014 \u043e",
        "\u0434\u043e\u043c 5\u0430, \u043a\u0432. 10",
        "\u041c\u043e\u0441\u043a\u0432\u0430",
        "/home/bob/\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442\u044b/report.txt",
        "https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/\u043f\u0443\u0442\u044c",
        "\u03a4\u03b9 \u03ba\u03ac\u03bd\u03b5\u03b9\u03c2; \u03c4\u03bf \u03bf \u03bd\u03b1",
        "a step of 10 \u03bcm, \u0394t and \u03bbx",
        "\u4f60\u597d\uff0c\u4e16\u754c\uff08\u6d4b\u8bd5\uff09\uff1a\u7528Python\uff0cGo\u3002",
        "\u65e5\u672c\u8a9etext and \uff21\uff22\uff23 here",
        "\u30ce\u30fc\u30c8 USB\u30ce\u30fc\u30c8",
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd 100",
        "\u0645\u0631\u062d\u0628\u0627\u060c \u0643\u064a\u0641 \u0627\u0644\u062d\u0627\u0644",
        "kapat\u0131ld\u0131 ve a\u00e7\u0131ld\u0131",
        "Stra\u00dfe \u0141\u00f3d\u017a \u00f8 \u00e6, na\u00efve de\u0301ja\u0300 vu",
        "\u043f\u02bc\u044f\u0442\u044c \u0456 \u0441\u0456\u043c\u2019\u044f",
        "5 \u00d7 4 = 20, 3\u00d74, m\u00b2 10\u00b3 \u00bd",
        "\u20ac 5 \u2022 point \u2122 \u00ae \u21165 \u2192 ok",
        "1\ufe0f\u20e3 \U0001f44d",
        "press 1\u20e3 or #\u20e3",
        "\U0001f6ac\u20e0 here, \u26a0\ufe0f\u20e4",
        "Preis: 5 \u20ac \u2013 10 \u20ac",
        "O\u2019Brien",
    ],
)
def test_what_people_write_is_left_alone(text):
    assert marked(text) == text
    assert "mixed_scripts" not in argument_warnings({"note": text})


@pytest.mark.parametrize(
    "text, shown",
    [
        ("pay --to=\u05d1 100 200", "pay --to=[\u05d1] 100 200"),
        ("mv \u05d0\u05d1 \u05d2\u05d3", "mv [\u05d0\u05d1] [\u05d2\u05d3]"),
        ("\u05d0 \u05d1 100 200", "[\u05d0 \u05d1] 100 200"),
        ("a\n\u05d0 1", "a\u23ce\n[\u05d0] 1"),
    ],
)
def test_what_runs_from_right_to_left_leaves_all_else_in_its_order(text, shown):
    assert visible(text).text == shown.replace("[", "\u2067").replace("]", "\u2069")
    assert reveal(visible(text).text) == text
    assert unisolated(visible(text).text) == text.replace("\n", "\u23ce\n")


def test_isolates_of_the_text_itself_are_codes():
    assert visible("a\u2067b\u2069").text == "a\u27e6U+2067\u27e7b\u27e6U+2069\u27e7"


@pytest.mark.parametrize("unit", ["\u0431", "\u0430b", "x\u2215", "\u0430 ", "x\u0338", "\u06f01"])
def test_twice_the_text_takes_no_more_than_some_times_as_long(unit):
    def seconds(number: int) -> float:
        text = unit * number + "b"
        began = time.process_time()
        misleading(text)
        return time.process_time() - began

    short = min(seconds(10_000 + n) for n in range(3))
    assert seconds(80_000) < 32 * short + 0.05
