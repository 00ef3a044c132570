"""A guarded function's arguments as one JSON object, and back."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from inspect import BoundArguments, Parameter
from typing import Any, Final

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from lineclear.core.agent.plainjson import MAX_DEPTH, refuse_unless_json
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json

IDEMPOTENCY_KEY: Final = "idempotency_key"
"""A parameter of this name is not asked for: it gets the call's id."""


class Binding:
    """The signature of one function; arguments stand under their parameters' names.

    `*args` is a list and `**kwargs` an object, each under its own name. A parameter that was left
    at a default which is no JSON (a client, a sentinel) is not shown and keeps its default.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = getattr(function, "__qualname__", repr(function))
        self._signature = inspect.signature(function)
        hints = _hints(function)
        parameters = self._signature.parameters
        self.takes_key = IDEMPOTENCY_KEY in parameters
        self._shown = {name: p for name, p in parameters.items() if name != IDEMPOTENCY_KEY}
        self._types = {name: _adapter(hints[name]) for name in self._shown if name in hints}
        self.returns: Any = hints.get("return", inspect.Signature.empty)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Json]:
        """Give the arguments of one call; raises TypeError for what does not fit or is no JSON."""
        if self.takes_key and IDEMPOTENCY_KEY in kwargs:
            raise TypeError(f"{self._name}: {IDEMPOTENCY_KEY} is given by Lineclear.")
        spare = {IDEMPOTENCY_KEY: ""} if self.takes_key else {}
        bound = self._signature.bind(*args, **kwargs, **spare).arguments
        arguments: dict[str, Json] = {}
        for name, parameter in self._shown.items():
            if name in bound:
                value = bound[name]
                if parameter.kind is Parameter.VAR_POSITIONAL:
                    value = list(value)
                self._refuse_unless_json(value, name)
            elif parameter.default is not Parameter.empty:
                value = parameter.default
                try:
                    refuse_unless_json(value, name)
                except TypeError:
                    continue
            else:
                continue
            arguments[name] = value
        refuse_unless_json(arguments, f"The value of {self._name}'s arguments")
        return arguments

    def call(self, arguments: dict[str, Json], aid: str) -> BoundArguments:
        """Give what to call the function with."""
        given: dict[str, Any] = {}
        for name, parameter in self._signature.parameters.items():
            if name == IDEMPOTENCY_KEY:
                given[name] = aid
            elif name in arguments:
                several = parameter.kind is Parameter.VAR_POSITIONAL
                given[name] = tuple(arguments[name]) if several else arguments[name]
        return BoundArguments(self._signature, given)

    def single(self, value: Json) -> dict[str, Json]:
        """Give the arguments of a call with one bare value; raises ValueError if none is taken."""
        for name, parameter in self._shown.items():
            if parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
                return {name: value}
        raise ValueError(f"{self._name} takes no argument.")

    def check(self, arguments: Json) -> None:
        """Refuse modified arguments that do not fit; raises ValueError with a sentence."""
        if not isinstance(arguments, dict):
            # ValueError here and below: an operator's text is wrong, not a caller's type.
            raise ValueError(  # noqa: TRY004
                "The arguments must be an object with the parameters' names."
            )
        for name in arguments:
            if name not in self._shown:
                raise ValueError(f"There is no argument '{visible_line(name, 60)}'.")
        for name, parameter in self._shown.items():
            if name in arguments:
                self._check_one(name, parameter, arguments[name])
            elif parameter.default is Parameter.empty and parameter.kind not in _MAY_BE_EMPTY:
                raise ValueError(f"The argument '{name}' is missing.")
        bound = self.call(arguments, "")
        try:
            self._signature.bind(*bound.args, **bound.kwargs)
        except TypeError as why:
            raise ValueError(f"The arguments do not fit: {why}.") from why

    def schema(self) -> dict[str, Any] | None:
        """Describe the arguments as JSON Schema, as far as the annotations go."""
        properties: dict[str, Any] = {}
        definitions: dict[str, Any] = {}
        for name, parameter in self._shown.items():
            adapter = self._types.get(name)
            one = {} if adapter is None else _schema(adapter)
            # References start at the root of the whole schema.
            own = one.pop("$defs", {})
            if any(definitions.get(each, known) != known for each, known in own.items()):
                one = {}  # Two types of one name: the second one stays undescribed.
            else:
                definitions |= own
            if parameter.kind is Parameter.VAR_POSITIONAL:
                one = {"type": "array", "items": one}
            elif parameter.kind is Parameter.VAR_KEYWORD:
                one = {"type": "object", "additionalProperties": one}
            properties[name] = one
        required = [
            name
            for name, parameter in self._shown.items()
            if parameter.default is Parameter.empty and parameter.kind not in _MAY_BE_EMPTY
        ]
        described = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
        return {**described, "$defs": definitions} if definitions else described

    def _refuse_unless_json(self, value: Any, name: str) -> None:
        if name in ("self", "cls"):
            raise TypeError(
                f"{self._name} is a method: guard the bound one, for example "
                "gate.guard(bot.send_refund), because an object is no argument that a person can "
                "read."
            )
        refuse_unless_json(value, f"The argument '{name}' of {self._name}")

    def _check_one(self, name: str, parameter: Parameter, value: Json) -> None:
        if parameter.kind is Parameter.VAR_POSITIONAL:
            if not isinstance(value, list):
                raise ValueError(f"The argument '{name}' must be a list.")
            values = value
        elif parameter.kind is Parameter.VAR_KEYWORD:
            if not isinstance(value, dict):
                raise ValueError(f"The argument '{name}' must be an object.")
            values = list(value.values())
            taken = next((key for key in value if key in self._signature.parameters), None)
            if taken is not None:
                raise ValueError(f"'{taken}' cannot stand within '{name}'.")
        else:
            values = [value]
        adapter = self._types.get(name)
        if adapter is None:
            return
        for each in values:
            try:
                adapter.validate_json(jsontext.compact(each, max_depth=MAX_DEPTH + 5), strict=True)
            except ValidationError as why:
                first = why.errors(include_url=False, include_input=False, include_context=False)[0]
                raise ValueError(f"The argument '{name}' does not fit: {first['msg']}.") from why


def routine_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give what bears a callable's annotations and documentation: of an object, its `__call__`."""
    if isinstance(function, functools.partial):
        return routine_of(function.func)
    return function if inspect.isroutine(function) else type(function).__call__


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Resolve annotations one by one: those that cannot be resolved here only describe."""
    routine = inspect.unwrap(routine_of(function))
    names = getattr(routine, "__globals__", None)
    hints: dict[str, Any] = {}
    for name, annotation in getattr(routine, "__annotations__", {}).items():
        one = types.SimpleNamespace(__annotations__={name: annotation})
        with contextlib.suppress(NameError, TypeError, AttributeError, SyntaxError):
            hints |= typing.get_type_hints(one, globalns=names, include_extras=True)
    return hints


def is_async(function: Callable[..., Any]) -> bool:
    """Tell whether calling gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        routine_of(function)
    )


def first_line(function: Callable[..., Any]) -> str | None:
    """Give the first line of a callable's documentation, for the operator."""
    documentation = inspect.getdoc(routine_of(function))
    return documentation.strip().splitlines()[0][:300] if documentation else None


_MAY_BE_EMPTY: Final = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(annotation)
    except (PydanticUserError, NameError, TypeError):
        return None  # A type that JSON does not know: nothing can be checked.


def _schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    try:
        return adapter.json_schema()
    except PydanticUserError:
        return {}
