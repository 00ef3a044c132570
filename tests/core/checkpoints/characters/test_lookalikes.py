"""Texts that nobody can tell apart have one skeleton; others keep their own."""

import pytest

from lineclear.core.checkpoints.characters.lookalikes import skeleton


@pytest.mark.parametrize(
    "drawn, plain",
    [
        ("\u0421-1204", "C-1204"),  # Cyrillic
        ("\u0440\u0430\u0443", "pay"),
        ("\u0391\u0392", "AB"),  # Greek
        ("\uff21\uff22", "AB"),  # full width
        ("\U0001d400", "A"),  # mathematical
        ("caf\u0065\u0301", "caf\u00e9"),  # decomposed
    ],
)
def test_what_looks_the_same_has_the_same_skeleton(drawn, plain):
    assert drawn != plain
    assert skeleton(drawn) == skeleton(plain)


@pytest.mark.parametrize("text", ["C-1204", "pay", "caf\u00e9", "\u0436\u0443\u043a", ""])
def test_plain_text_is_told_from_other_plain_text(text):
    assert skeleton(text) != skeleton(text + "x")
    assert skeleton(skeleton(text)) == skeleton(text)


def test_ascii_is_its_own_skeleton():
    assert skeleton("l1O0") == "l1O0"
