"""The arguments of a tool call, which starweaver writes in one of three forms.

Parsed JSON stands as it is; a text that is parsed later stands as a JSON string, and is read
back as a parsed string; a text that is no JSON becomes an object with a mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable

INVALID_KIND: Final = "starweaver_invalid_tool_arguments"
"""The `kind` that marks arguments which are no JSON."""


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """JSON, ready to be run with."""

    value: Json = None


@dataclass(frozen=True, slots=True)
class RawArguments:
    """JSON as text, parsed when it is run with."""

    text: str


@dataclass(frozen=True, slots=True)
class InvalidArguments:
    """What the model wrote instead of JSON, and what the parser said."""

    raw: str
    error: str


ToolArguments = ParsedArguments | RawArguments | InvalidArguments


def read_arguments(value: Json) -> ToolArguments:
    """Tell the form; a marked object without its texts has empty ones."""
    if isinstance(value, dict) and value.get("kind") == INVALID_KIND:
        raw, error = value.get("raw"), value.get("error")
        return InvalidArguments(
            raw if isinstance(raw, str) else "", error if isinstance(error, str) else ""
        )
    return ParsedArguments(value)


def arguments_document(arguments: ToolArguments) -> Json:
    """Give the JSON that is written."""
    match arguments:
        case ParsedArguments(value):
            return value
        case RawArguments(text):
            return text
        case InvalidArguments(raw, error):
            # serde_json sorts the keys of a value.
            return {"error": error, "kind": INVALID_KIND, "raw": raw}


def execution_value(arguments: ToolArguments) -> Json:
    """Give what the tool would be called with: a text that is no JSON stays a text."""
    match arguments:
        case ParsedArguments(value):
            return value
        case RawArguments(text):
            try:
                return jsontext.parse_value(text, max_depth=jsontext.MAX_DEPTH_IN)
            except Unreadable:
                return text
        case InvalidArguments(raw):
            return raw


def from_provider(value: Json) -> ToolArguments:
    """Take arguments as a provider gave them: a text is parsed, and kept if it is no JSON."""
    if not isinstance(value, str):
        return ParsedArguments(value)
    try:
        return ParsedArguments(jsontext.parse_value(value, max_depth=jsontext.MAX_DEPTH_IN))
    except Unreadable as why:
        return InvalidArguments(value, why.sentence)
