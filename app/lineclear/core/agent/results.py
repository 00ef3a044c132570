"""How a guarded function's result is kept as text, and given back.

A function annotated `-> str` keeps its text as it is: it is what a model gets. Any other result is
kept as JSON, by the return annotation where there is one (pydantic: dataclasses, models, dates),
so that a call of the same key gives back an equal value in a later process. What is no JSON is
kept as `[not JSON] <repr>` for a person to read; it cannot be given back.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json

NOT_JSON: Final = "[not JSON] "


class ResultText:
    """Writes and reads the results of one function by its return annotation."""

    def __init__(self, annotation: Any) -> None:
        self._as_text = annotation is str
        if annotation is inspect.Signature.empty:
            annotation = Any
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        except (PydanticUserError, NameError, TypeError):
            self._adapter = TypeAdapter(Any)

    def write(self, result: Any) -> str:
        """Give the text to record; never fails, because the tool has run."""
        if self._as_text and isinstance(result, str):
            return jsontext.storable(result)
        try:
            return self._adapter.dump_json(result, warnings="none").decode()
        except (PydanticSerializationError, ValueError, RecursionError):
            return jsontext.storable(f"{NOT_JSON}{result!r}")

    def read(self, text: str) -> Any:
        """Give back a recorded result; raises ValueError where the text is none."""
        if self._as_text:
            return text
        try:
            return self._adapter.validate_json(text)
        except ValidationError as why:
            raise ValueError(_first(why)) from why

    def accept(self, result: Json) -> str:
        """Give the text to record for an operator's result; raises ValueError with a sentence."""
        if self._as_text:
            return result if isinstance(result, str) else jsontext.compact(result).decode()
        text = jsontext.compact(result).decode()
        try:
            self.read(text)
        except ValueError as why:
            raise ValueError(f"The result does not fit the function: {why}") from why
        return text


def _first(why: ValidationError) -> str:
    first = why.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}." if place else f"{first['msg']}."
