"""A form for arguments whose tool left a JSON Schema: its plain fields; all else stays as JSON.

The schema is an agent's text: it chooses which fields are shown and how they are called, never
what is written into one. What is given is judged elsewhere, whichever way it was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QLineEdit,
    QScrollArea,
    QWidget,
)

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import reveal, visible, visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import LineclearError
from lineclear.language import _, counted
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel, WholeLabel, explain
from lineclear.ui.reading.written_text import WrittenText

MOST_FIELDS = 40
_MOST_CHOICES = 60
_LONG = 80
"""Characters from which a text has several lines."""
_NAMED = 4
"""Arguments without a field that are named."""
_NOT_GIVEN = _("not given")
_KINDS = ("string", "number", "integer", "boolean")


@dataclass(frozen=True, slots=True)
class Field:
    """One argument that a form can hold."""

    name: str
    kind: str
    """`string`, `number`, `integer`, `boolean` or `choice`."""
    required: bool
    choices: tuple[Json, ...] = ()
    description: str = ""
    """Untrusted text."""


def fields_of(schema: Mapping[str, Any] | None) -> tuple[Field, ...]:
    """Give the plain fields of an object's schema, at most `MOST_FIELDS`."""
    properties = schema.get("properties") if schema else None
    if not isinstance(properties, Mapping) or schema is None:
        return ()
    named = schema.get("required")
    required = {one for one in named if isinstance(one, str)} if isinstance(named, list) else set()
    found = []
    for name, of_it in properties.items():
        if not isinstance(of_it, Mapping):
            continue
        told = of_it.get("description")
        description = told if isinstance(told, str) else ""
        choices = of_it.get("enum")
        if isinstance(choices, list) and 0 < len(choices) <= _MOST_CHOICES:
            if not any(isinstance(one, dict | list) for one in choices):
                found.append(Field(name, "choice", name in required, tuple(choices), description))
        elif of_it.get("type") in _KINDS:
            found.append(Field(name, str(of_it["type"]), name in required, (), description))
    return tuple(found[:MOST_FIELDS])


def _kept_as_it_is(names: list[str]) -> str:
    """Say of arguments that no field holds where they can be changed."""
    shown = ", ".join(visible_line(name, 60) for name in names[:_NAMED])
    if len(names) > _NAMED:
        shown = _("{names} and {more} more").format(names=shown, more=len(names) - _NAMED)
    return counted(
        "{names} stays as it is. Change it as JSON.",
        "{names} stay as they are. Change them as JSON.",
        len(names),
        names=shown,
    )


class SchemaForm(QScrollArea):
    """Edits the plain fields of one object; other keys of it are kept as they are.

    Signals:
        edited: `value` or `problem` has changed by the operator's hand.
    """

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("schemaForm")
        self.setAccessibleName(_("Arguments as a form"))
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.value: dict[str, Json] = {}
        self._wrong: dict[str, str] = {}

    @property
    def problem(self) -> str:
        """What is wrong with a field, "" for nothing."""
        return next(iter(self._wrong.values()), "")

    def begin(
        self,
        fields: tuple[Field, ...],
        value: dict[str, Json],
        masked: Mapping[str, str] | None = None,
    ) -> None:
        """Show VALUE in FIELDS; those that are MASKED are not written in here, and say what is."""
        self.value = dict(value)
        self._wrong = {}
        page = QWidget()
        page.setObjectName("page")
        form = QFormLayout(page)
        form.setContentsMargins(0, 4, 8, 4)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for field in fields:
            label = PlainLabel(visible_line(field.name, 60) + (" *" if field.required else ""))
            label.setFont(theme.mono_font())
            explain(label, field.description)
            hidden = (masked or {}).get(field.name)
            editor = self._editor(field) if hidden is None else _covered(hidden)
            editor.setObjectName(f"field:{field.name}")
            editor.setAccessibleName(
                _("{field}, required").format(field=visible_line(field.name, 60))
                if field.required
                else visible_line(field.name, 60)
            )
            label.setBuddy(editor)
            label.setMinimumHeight(editor.sizeHint().height() if field.kind != "string" else 30)
            form.addRow(label, editor)
        if rest := [name for name in value if all(name != one.name for one in fields)]:
            form.addRow(WholeLabel(_kept_as_it_is(rest), name="formRest"))
        self.setWidget(page)

    # --- One field --------------------------------------------------------------------------

    def _editor(self, field: Field) -> QWidget:
        value = self.value.get(field.name)
        if field.kind in ("choice", "boolean"):
            return self._choice(field)
        if field.kind == "string" and isinstance(value, str) and _is_long(value):
            text = WrittenText()
            text.setPlainText("\n".join(visible(one).text for one in value.split("\n")))
            text.setFixedHeight(84)
            text.setTabChangesFocus(True)
            text.setFont(theme.mono_font())
            text.textChanged.connect(lambda: self._typed(field, text.toPlainText()))
            return text
        line = QLineEdit(_shown(field, self.value))
        line.setCursorPosition(0)
        line.setPlaceholderText(_NOT_GIVEN)
        line.setFont(theme.mono_font())
        line.textEdited.connect(lambda typed: self._typed(field, typed))
        return line

    def _choice(self, field: Field) -> QComboBox:
        box = QComboBox()
        choices = field.choices if field.kind == "choice" else (True, False)
        given = field.name in self.value
        if given and not any(_same(self.value[field.name], one) for one in choices):
            choices = (self.value[field.name], *choices)
        if not given or not field.required:
            box.addItem(_NOT_GIVEN)
        first = box.count()
        for number, one in enumerate(choices):
            box.addItem(visible_line(_text(one), 60))
            if given and _same(self.value[field.name], one):
                box.setCurrentIndex(first + number)
        box.activated.connect(lambda at: self._chosen(field, choices, at - first))
        return box

    # --- What the operator does -----------------------------------------------------------------

    def _typed(self, field: Field, shown: str) -> None:
        typed = reveal(shown)
        self._wrong.pop(field.name, None)
        if field.kind == "string":
            self.value[field.name] = typed
        elif not typed.strip():
            self.value.pop(field.name, None)
        else:
            self._number(field, typed.strip())
        self.edited.emit()

    def _number(self, field: Field, typed: str) -> None:
        told = _("{field} must be a number.").format(field=visible_line(field.name, 60))
        try:
            # Its text is kept: 120.00 stays 120.00.
            value = jsontext.parse_value(typed)
        except LineclearError:
            self._wrong[field.name] = told
            return
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.value[field.name] = value
        else:
            self._wrong[field.name] = told

    def _chosen(self, field: Field, choices: tuple[Json, ...], place: int) -> None:
        if place < 0:
            self.value.pop(field.name, None)
        else:
            self.value[field.name] = choices[place]
        self.edited.emit()


def _covered(masked: str) -> QWidget:
    line = QLineEdit(visible_line(masked))
    line.setReadOnly(True)
    line.setProperty("tone", "muted")
    line.setFont(theme.mono_font())
    return line


def _is_long(text: str) -> bool:
    return len(text) > _LONG or "\n" in text


def _shown(field: Field, value: dict[str, Json]) -> str:
    if field.name not in value:
        return ""
    held = value[field.name]
    return visible_line(held) if isinstance(held, str) else visible_line(_text(held))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else jsontext.compact(value).decode("utf-8")


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and one == other
