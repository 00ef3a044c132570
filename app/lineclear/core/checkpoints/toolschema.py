"""Whether arguments fit the JSON Schema that an agent left with its call.

Only what is plain is judged: types, required and unknown names, fixed values and bounds of numbers,
texts and lists (JSON Schema 2020-12). A schema is another program's text: what is not understood,
or costs too much, counts as fitting, and the agent has the last word. Patterns are never run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.sentences import worded

_OF_LISTS: Final = ("minItems", "maxItems")
_MAX_STEPS: Final = 50_000


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[dict[str, tuple[str, Callable[[Json], bool]]]] = {
    "object": (worded("an object"), lambda value: isinstance(value, dict)),
    "array": (worded("a list"), lambda value: isinstance(value, list)),
    "string": (worded("a text"), lambda value: isinstance(value, str)),
    "boolean": (worded("true or false"), lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "number": (worded("a number"), _is_number),
    "integer": (worded("a whole number"), lambda value: _is_number(value) and value % 1 == 0),
}


class _CostsTooMuchError(Exception):
    """The schema takes more steps than a person should wait for."""


def misfit(schema: Mapping[str, Any], arguments: Json) -> str | None:
    """Say in a sentence which argument does not fit, and why; None where nothing is found."""
    try:
        return _Check(schema).misfit(schema, arguments, "")
    except (_CostsTooMuchError, RecursionError):
        return None


class _Check:
    """One look at one value."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._steps = 0

    def misfit(self, schema: Any, value: Json, place: str) -> str | None:
        """Give the first misfit below PLACE, a path like `customer.name` or `items[2]`."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise _CostsTooMuchError
        if not isinstance(schema, Mapping):
            return (
                worded("{argument} is not taken.", argument=_called(place))
                if schema is False
                else None
            )
        found = _own_misfit(schema, value, place)
        if found is not None:
            return found
        for below, inner, inner_place in self._below(schema, value, place):
            found = self.misfit(below, inner, inner_place)
            if found is not None:
                return found
        return self._alternatives(schema, value, place)

    def _below(
        self, schema: Mapping[str, Any], value: Json, place: str
    ) -> Iterator[tuple[Any, Json, str]]:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield self._referred(reference), value, place
        for each in _list(schema.get("allOf")):
            yield each, value, place
        if isinstance(value, dict):
            properties = _mapping(schema.get("properties"))
            others = schema.get("additionalProperties", True)
            # A name that a pattern may allow is not judged.
            judged = not schema.get("patternProperties")
            for name, inner in value.items():
                path = f"{place}.{visible_line(name, 60)}" if place else visible_line(name, 60)
                if name in properties:
                    yield properties[name], inner, path
                elif judged:
                    yield others, inner, path
        elif isinstance(value, list) and not schema.get("prefixItems"):
            for number, inner in enumerate(value):
                yield schema.get("items", True), inner, f"{place}[{number}]"

    def _alternatives(self, schema: Mapping[str, Any], value: Json, place: str) -> str | None:
        for name in ("anyOf", "oneOf"):
            found = [self.misfit(each, value, place) for each in _list(schema.get(name))]
            if found and all(found):
                # Of one alternative beside null, its own sentence says most.
                told = [one for one in found if one and not one.endswith(" must be null.")]
                if len(told) == 1:
                    return told[0]
                return worded(
                    "{argument} fits none of the forms that the tool takes.",
                    argument=_called(place),
                )
        return None

    def _referred(self, reference: str) -> Any:
        found: Any = self._root
        if not reference.startswith("#"):
            return True
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                return True
            found = found[name]
        return found


def _own_misfit(schema: Mapping[str, Any], value: Json, place: str) -> str | None:
    """Judge what a schema says of the value itself, not of what is in it."""
    names = _list(schema.get("type")) or [schema.get("type")]
    known = [_TYPES[name] for name in names if isinstance(name, str) and name in _TYPES]
    if len(known) == len(names) and not any(is_one(value) for _, is_one in known):
        return worded(
            "{argument} must be {kinds}.",
            argument=_called(place),
            kinds=_one_of(word for word, _is_one in known),
        )
    if "const" in schema and not _equal(value, schema["const"]):
        return worded(
            "{argument} must be {value}.", argument=_called(place), value=_written(schema["const"])
        )
    allowed = _list(schema.get("enum"))
    if allowed and not any(_equal(value, one) for one in allowed):
        return worded(
            "{argument} must be one of {values}.",
            argument=_called(place),
            values=", ".join(map(_written, allowed[:8])),
        )
    if isinstance(value, dict):
        for name in _list(schema.get("required")):
            if isinstance(name, str) and name not in value:
                inner = f"{place}.{visible_line(name, 60)}" if place else visible_line(name, 60)
                return worded("{argument} is missing.", argument=_called(inner))
    return _out_of_bounds(schema, value, place)


def _out_of_bounds(schema: Mapping[str, Any], value: Json, place: str) -> str | None:
    if isinstance(value, str | list):
        least, most = ("minLength", "maxLength") if isinstance(value, str) else _OF_LISTS
        if len(value) < _bound(schema, least, 0):
            return _too_few(schema[least], place, text=isinstance(value, str))
        if len(value) > _bound(schema, most, len(value)):
            return _too_many(schema[most], place, text=isinstance(value, str))
    if _is_number(value):
        if value < _bound(schema, "minimum", value):
            return worded(
                "{argument} must be at least {bound}.",
                argument=_called(place),
                bound=schema["minimum"],
            )
        if value > _bound(schema, "maximum", value):
            return worded(
                "{argument} must be at most {bound}.",
                argument=_called(place),
                bound=schema["maximum"],
            )
        if "exclusiveMinimum" in schema and value <= _bound(schema, "exclusiveMinimum", value - 1):
            return worded(
                "{argument} must be more than {bound}.",
                argument=_called(place),
                bound=schema["exclusiveMinimum"],
            )
        if "exclusiveMaximum" in schema and value >= _bound(schema, "exclusiveMaximum", value + 1):
            return worded(
                "{argument} must be less than {bound}.",
                argument=_called(place),
                bound=schema["exclusiveMaximum"],
            )
    return None


def _bound(schema: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    bound = schema.get(name)
    return bound if _is_number(bound) else otherwise


def _equal(one: Json, other: Json) -> bool:
    # In JSON, true is not 1.
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _too_few(bound: Any, place: str, *, text: bool) -> str:
    argument = _called(place)
    if text:
        return worded(
            "{argument} must have at least {bound} characters.", argument=argument, bound=bound
        )
    return worded("{argument} must have at least {bound} items.", argument=argument, bound=bound)


def _too_many(bound: Any, place: str, *, text: bool) -> str:
    argument = _called(place)
    if text:
        return worded(
            "{argument} must have at most {bound} characters.", argument=argument, bound=bound
        )
    return worded("{argument} must have at most {bound} items.", argument=argument, bound=bound)


def _one_of(words: Iterable[str]) -> str:
    return reduce(lambda told, word: worded("{one} or {other}", one=told, other=word), words)


def _called(place: str) -> str:
    return (
        worded("The argument '{place}'", place=place)
        if place
        else worded("The arguments as a whole")
    )


def _written(value: Json) -> str:
    return visible_line(jsontext.compact(value, max_depth=256).decode("utf-8"), 60)
