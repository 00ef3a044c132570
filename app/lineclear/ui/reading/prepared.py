"""A call's arguments made ready to be shown, away from the window's thread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.inbox.comparing.comparison import Change, differences
from lineclear.core.inbox.comparing.last_approved import Comparison
from lineclear.core.inbox.comparing.world import FILE_CHANGED, RUN_WENT_ON
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.secrets.masking import Masked, Path, at, mask, mask_for_record, places
from lineclear.ui.reading.changed_text import Lines, changed_text
from lineclear.ui.reading.code_colours import colours_of, field_spans, text_spans
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.composing import composed
from lineclear.ui.reading.halting import Halt
from lineclear.ui.reading.left_behind import Left, left_behind, main_view
from lineclear.ui.reading.pieces import Piece, step_pieces
from lineclear.ui.reading.shown_text import MARK, exact_text, plain_text, raw_text

EDIT_AT_MOST = 200_000
"""Characters of arguments that the modify editor takes."""
COLOURED_AT_MOST = 300_000
"""Characters of arguments in which anything is coloured."""
AROUND = frozenset({FILE_CHANGED, RUN_WENT_ON})
"""Warnings of what surrounds a call, which come later than its bytes."""
FIELDS_AT_MOST = 200
FIELD_LENGTH = 2_000
KEY_LENGTH = 200
"""Up to these, every value is shown whole in the list of fields."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One reading of a row: what the pane shows and how much of it there is."""

    detail: Detail
    arguments: Json
    """MISSING where there is nothing to decide on."""
    text: str
    """The arguments in full, one shown line per line, none longer than `LINE_LIMIT` and a mark."""
    lines: int
    """Lines of the text that is shown."""
    whole_fields: bool
    """The list of fields shows everything: few of them and none long."""
    raw: str = ""
    """The file's bytes as text to look at."""
    result: str = ""
    """What came of the call, as text; "" where nothing is known."""
    inputs: str = ""
    """What the run was started with, as exact text; "" where nothing is reported."""
    given: Json = MISSING
    """The arguments of a modify that stands, MISSING where those asked are the ones that run."""
    given_text: str = ""
    """The arguments given, as exact text."""
    steps: tuple[Piece, ...] = ()
    main: Left | None = None
    """The row's own checkpoint where it holds no call."""
    left: tuple[Left, ...] = ()
    """The run's checkpoints besides the call."""
    masked: Json = MISSING
    """The arguments that run, without their secrets: what fields show."""
    masked_places: tuple[tuple[Path, Masked], ...] = ()
    """Where something is masked in those, in their order."""
    asked: Json = MISSING
    """The arguments asked, without their secrets."""
    asked_places: tuple[tuple[Path, Masked], ...] = ()
    """Where something is masked in those."""
    was: Mapping[Path, Json] = field(default_factory=dict)
    """By place that differs: what was asked there where an operator changed it, else what the call
    approved last had there; MISSING where nothing stood. Without secrets."""
    was_approved: Mapping[Path, Json] = field(default_factory=dict)
    """The latter, whether an operator changed something or not."""
    compared: tuple[Comparison, ...] = ()
    """The call beside others."""
    spans: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)
    """By line of the text that is shown: what is coloured."""
    field_spans: Mapping[Path, tuple[Span, ...]] = field(default_factory=dict)
    """By place: what is coloured in a field."""
    beside: Lines = field(default_factory=Lines)
    """What differs from those, as lines."""
    raw_open: str = ""
    """`raw` with its secrets, "" where it has none."""
    result_open: str = ""
    inputs_open: str = ""
    steps_open: tuple[Piece, ...] = ()
    beside_open: Lines | None = None
    """The same of `result`, `inputs`, `steps` and `beside`."""

    @property
    def changed(self) -> bool:
        """Whether other arguments than those asked are the ones that run."""
        return self.given is not MISSING

    @property
    def shown(self) -> Json:
        """The arguments that run, as far as anyone decided."""
        return self.given if self.changed else self.arguments

    @property
    def shown_text(self) -> str:
        """The exact text of the arguments that run."""
        return self.given_text if self.changed else self.text

    def as_asked(self) -> Prepared:
        """The same reading once no modify stands any more."""
        lines = self.text.count("\n") + 1
        return replace(
            self,
            given=MISSING,
            given_text="",
            lines=lines,
            masked=self.asked,
            masked_places=self.asked_places,
            was=self.was_approved,
            spans={},
            field_spans={},
        )

    @property
    def last(self) -> Json:
        """The arguments of the call that was approved last, MISSING where none is known."""
        for one in self.compared:
            if one.with_last_approved and one.same_tool:
                return one.other.decided_arguments
        return MISSING

    def revealing(self, shown: frozenset[Path]) -> Prepared:
        """The same reading with the secrets at some places open."""
        masked = mask(self.shown, shown=shown, last=self.last)
        text = exact_text(masked)
        made = replace(
            self,
            masked=masked,
            masked_places=tuple(places(masked)),
            lines=text.count("\n") + 1,
        )
        if self.changed:
            return replace(made, given_text=text).coloured()
        return replace(made, text=text).coloured()

    def coloured(self) -> Prepared:
        """The same reading with the colours of what looks like a program's text."""
        if len(self.shown_text) > COLOURED_AT_MOST:
            return self
        colours = colours_of(self.masked)
        return replace(
            self,
            spans=text_spans(self.masked, colours),
            field_spans=field_spans(self.masked, colours, FIELD_LENGTH),
        )

    @property
    def argv(self) -> tuple[str, ...]:
        """The command that the agent's lock names, () where there is none."""
        return () if self.detail.lock is None else self.detail.lock.argv

    @property
    def editable(self) -> bool:
        """Whether the modify editor takes the arguments."""
        return len(self.text) <= EDIT_AT_MOST


def prepare(
    detail: Detail, compared: tuple[Comparison, ...] = (), halt: Halt | None = None
) -> Prepared:
    """Make one reading of a row ready; pure, and as long as its arguments are.

    Raises Halted where HALT says that nobody waits for it any more.
    """
    halt = halt or Halt()
    halt.look()
    arguments = _arguments(detail)
    missing = arguments is MISSING
    decision = detail.row.decision
    given = MISSING
    if decision is not None and detail.row.is_changed and not missing:
        given = decision.arguments
    inputs = {} if detail.checkpoint is None else detail.checkpoint.inputs
    now = datetime.now(UTC)
    made = Prepared(
        detail,
        arguments,
        "",
        0,
        whole_fields=missing or (_is_small(arguments) and (given is MISSING or _is_small(given))),
        inputs=exact_text(mask_for_record(inputs)) if inputs else "",
        result=plain_text(detail.result or ""),
        given=given,
        steps=()
        if detail.checkpoint is None
        else composed(step_pieces(detail.checkpoint.steps, halt=halt)),
        main=main_view(detail, halt),
        left=left_behind(detail, halt),
        compared=compared,
        beside=changed_text(compared, arguments, now),
    )
    halt.look()
    made = _with_open(made, now, halt)
    halt.look()
    asked = mask(arguments, last=made.last)
    masked = asked if given is MISSING else mask(given, last=made.last)
    was_approved = _before(compared[0].changes if made.last is not MISSING else (), made.last)
    was = was_approved
    if given is not MISSING:
        was = _before(differences(arguments, given), arguments)
    text = "" if missing else exact_text(asked, halt)
    given_text = "" if given is MISSING else exact_text(masked, halt)
    halt.look()
    open_raw = raw_text(detail.raw)
    raw = raw_text(detail.raw, masked=True, secrets=_written(arguments, asked))
    # What holds no secret is the same object as before.
    asked_places = () if asked is arguments else tuple(places(asked))
    return replace(
        made,
        masked=masked,
        masked_places=asked_places if masked is asked else tuple(places(masked)),
        asked=asked,
        asked_places=asked_places,
        was=was,
        was_approved=was_approved,
        text=text,
        given_text=given_text,
        lines=(text if given is MISSING else given_text).count("\n") + 1,
        raw=raw,
        raw_open="" if raw == open_raw else open_raw,
    ).coloured()


def _with_open(made: Prepared, now: datetime, halt: Halt) -> Prepared:
    """Add what is masked as it is without masks, where anything is."""
    detail, checkpoint = made.detail, made.detail.checkpoint
    result = plain_text(detail.result or "", openly=True)
    inputs = "" if checkpoint is None or not checkpoint.inputs else exact_text(checkpoint.inputs)
    steps: tuple[Piece, ...] = ()
    if checkpoint is not None and any(MARK in piece.body for piece in made.steps):
        steps = composed(step_pieces(checkpoint.steps, openly=True, halt=halt))
    masked = any(MARK in line for line in made.beside.lines)
    return replace(
        made,
        result_open="" if result == made.result else result,
        inputs_open="" if inputs == made.inputs else inputs,
        steps_open=steps,
        beside_open=changed_text(made.compared, made.arguments, now, openly=True)
        if masked
        else None,
    )


def _before(changes: Iterable[Change], before: Json) -> dict[Path, Json]:
    """What stood at each place that differs."""
    masked = mask(before)
    return {
        change.path: MISSING if change.before is MISSING else at(masked, change.path)
        for change in changes
    }


def _written(arguments: Json, masked: Json) -> list[str]:
    """The secrets of some arguments as their file may hold them."""
    found: list[str] = []
    for path, text in places(masked) if masked is not arguments else ():
        value = at(arguments, path)
        if text.whole and isinstance(value, str) and len(value) >= 4:
            found += [json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]]
    return found


def warned(prepared: Prepared, codes: tuple[str, ...]) -> Prepared:
    """The same reading with warnings of what became of the call's surroundings since."""
    row = prepared.detail.row
    kept = tuple(code for code in row.warnings if code not in AROUND)
    row = replace(row, warnings=strongest_first((*kept, *codes)))
    return replace(prepared, detail=replace(prepared.detail, row=row))


def merged(row: Row, prepared: Prepared) -> Row:
    """ROW with the warnings of both: the feed knows of twins, the reading what the bytes hold."""
    read = prepared.detail.row
    fresh = read.warnings
    known = tuple(code for code in row.warnings if code not in fresh)
    return replace(
        row,
        warnings=(*known, *fresh),
        rewritten=read.rewritten,
        ran_late=read.ran_late,
        strays=read.strays,
        damaged_launches=read.damaged_launches,
    )


def _arguments(detail: Detail) -> Json:
    checkpoint = detail.checkpoint
    if checkpoint is None or not checkpoint.calls:
        return MISSING
    item = detail.row.item
    for call in checkpoint.calls:
        if not item or call.item == item:
            return call.arguments
    return MISSING


def _is_small(value: Json) -> bool:
    left = FIELDS_AT_MOST
    stack = [value]
    while stack:
        top = stack.pop()
        left -= 1
        if left < 0:
            return False
        if isinstance(top, dict):
            if any(len(key) > KEY_LENGTH for key in top):
                return False
            stack.extend(top.values())
        elif isinstance(top, list):
            stack.extend(top)
        elif len(top if isinstance(top, str) else str(top)) > FIELD_LENGTH:
            return False
    return True
