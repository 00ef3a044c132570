"""A crowd of calls of one tool for the pictures: most alike, some that stand out, some hostile."""

from __future__ import annotations

import random

from pictures.stage import Stage, call

_REASONS = ("delivered damaged", "never arrived", "wrong size")


_LETTER = """\
Dear customer,

we are sorry that your parcel did not arrive as it should. We send the money back today; it is on
your account within three working days.

Yours sincerely,
the shop
"""


def crowd(stage: Stage, *, hostile: bool = False, letter: bool = False) -> dict[str, str]:
    """Sixty refunds that wait at once; ids by number."""
    draw = random.Random(7)  # noqa: S311  # Pretend numbers.
    first = call("send_refund", {"customer": "C-1"}, "refunds")
    before = stage.ask("refunds", first, 200)
    stage.finish(before, "ok", "Done.")
    known = {}
    for number in range(60):
        arguments: dict[str, object] = {
            "customer": f"C-{1200 + number}",
            "amount": round(draw.uniform(12, 90), 2),
            "currency": "USD" if number in (17, 41) else "EUR",
            "reason": _REASONS[number % 3],
            "order": {"year": 2026, "channel": "web"},
            "api_key": "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c",
            "notify": True,
        }
        if number == 33:
            arguments["amount"] = 4900.0
        if number == 50:
            arguments["note"] = "paid\u202e001$\u202c in full"
        if number in (51, 52, 53):
            arguments["note"] = f"The customer wrote again. {number} " * 20
        if letter:
            arguments["letter"] = _LETTER
        if hostile:
            _make_hostile(arguments, number)
        asked = call("send_refund", arguments, "refunds")
        known[str(number)] = stage.ask("refunds", asked, 12 - number / 6, lane=number + 2)
    return known


def _make_hostile(arguments: dict[str, object], number: int) -> None:
    arguments["<b>Approved</b>"] = "<img src=x onerror=alert(1)> & more"
    arguments["reason"] = f"<a href='file:///'>{'W' * (60 + number)}</a>"
    if number == 20:
        arguments["customer"] = "\u0421-1221"  # A Cyrillic letter where the others have a C.
    if number == 21:
        arguments["Agent"] = "somebody else"
