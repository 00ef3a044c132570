"""The decorator of a Gate: binds a call's arguments, asks, runs, records, returns."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

from lineclear.core.agent.binding import Binding, first_line, is_async
from lineclear.core.agent.errors import CallFailed, Expired, NotRun, ResultLost
from lineclear.core.agent.passage import Settled
from lineclear.core.agent.results import ResultText
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Denied, LineclearError

if TYPE_CHECKING:
    from lineclear.core.agent.gate import Gate

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Rules:
    """How one function is guarded."""

    key: str | Callable[..., str]
    denied: Literal["raise", "text"]
    expires_after: float | None


def wrap(gate: Gate, function: Callable[_P, _R], rules: Rules) -> Callable[_P, _R]:
    """Give the guarded function; raises TypeError for what cannot be guarded."""
    if isinstance(function, staticmethod | classmethod) or not callable(function):
        raise TypeError("Only a function can be guarded: put @gate.guard nearest to its def.")
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError("A generator cannot be guarded: it has no one result to record.")
    guarded = _Guarded(gate, function, rules)
    if is_async(function):

        @functools.wraps(function)
        async def asynchronous(*args: _P.args, **kwargs: _P.kwargs) -> Any:
            return await guarded.call(args, kwargs)

        return cast("Callable[_P, _R]", asynchronous)

    @functools.wraps(function)
    def blocking(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return cast("_R", guarded.call_blocking(args, kwargs))

    return blocking


class _Guarded:
    """One guarded function; also what it takes from an operator (`Acceptance`)."""

    def __init__(self, gate: Gate, function: Callable[..., Any], rules: Rules) -> None:
        self._gate = gate
        self._function = function
        self._rules = rules
        self._tool: str = getattr(function, "__name__", type(function).__name__)
        self._binding = Binding(function)
        self._results = ResultText(self._binding.returns)
        self._details: dict[str, Any] = {"tool_schema": self._binding.schema()}
        self._details["description"] = first_line(function)

    def check_arguments(self, arguments: Json) -> None:
        """Refuse modified arguments that do not fit the signature."""
        self._binding.check(arguments)

    def result_text(self, result: Json) -> str:
        """Give the text to record for an operator's result, if it fits the return annotation."""
        return self._results.accept(result)

    async def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask, run and record."""
        answer = await self._gate.ask(self._tool, **self._asked(args, kwargs))
        if isinstance(answer, Settled):
            return self._settled(answer)
        bound = self._binding.call(answer.arguments, answer.aid)
        try:
            result = await self._function(*bound.args, **bound.kwargs)
        except GeneratorExit as gone:
            # The loop has ended around this coroutine: nothing can be awaited any more.
            answer.finish_blocking("error", failure_text(gone), code="cancelled")
            raise
        except BaseException as failure:
            await answer.finish("error", failure_text(failure), code=failure_code(failure))
            raise
        await answer.finish("ok", self._results.write(result))
        return result

    def call_blocking(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do as `call` does, blocking this thread; refuses on an event loop's."""
        self._refuse_on_loop()
        answer = self._gate.ask_blocking(self._tool, **self._asked(args, kwargs))
        if isinstance(answer, Settled):
            return self._settled(answer)
        bound = self._binding.call(answer.arguments, answer.aid)
        try:
            result = self._function(*bound.args, **bound.kwargs)
        except BaseException as failure:
            answer.finish_blocking("error", failure_text(failure), code=failure_code(failure))
            raise
        answer.finish_blocking("ok", self._results.write(result))
        return result

    def _asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        key = self._rules.key
        return {
            "arguments": self._binding.bind(args, kwargs),
            "key": key if isinstance(key, str) else key(*args, **kwargs),
            "acceptance": self,
            "expires_after": self._rules.expires_after,
            **self._details,
        }

    def _refuse_on_loop(self) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        raise RuntimeError(
            f"{self._tool} blocks until a person answers, and this thread runs an event loop that "
            f"would stop with it: make {self._tool} an async function, or call it with "
            f"await asyncio.to_thread({self._tool}, ...)."
        )

    def _settled(self, answer: Settled) -> Any:
        match answer.outcome:
            case "ok":
                return self._recorded(answer)
            case "error":
                how = "ran before" if answer.began else "was approved before"
                end = "failed" if answer.began else "was not run"
                raise CallFailed(
                    f"{self._tool} {how} ({answer.aid[:8]}) and {end}: {answer.text}", answer.text
                )
        if self._rules.denied == "text":
            return answer.text
        raise self._refusal(answer)

    def _refusal(self, answer: Settled) -> LineclearError:
        said = f": {answer.reason}" if answer.reason else "."
        if answer.outcome == "denied":
            return Denied(
                f"An operator denied {self._tool} ({answer.aid[:8]}){said}", answer.reason
            )
        if answer.outcome == "expired":
            return Expired(
                f"Nobody decided {self._tool} ({answer.aid[:8]}) in time; it did not run."
            )
        return NotRun(
            f"An operator found that {self._tool} ({answer.aid[:8]}) had not run{said}",
            answer.reason,
        )

    def _recorded(self, answer: Settled) -> Any:
        try:
            return self._results.read(answer.text)
        except ValueError as why:
            if not answer.recorded:
                return answer.text  # A person's note on what the run did: text is all there is.
            raise ResultLost(
                f"{self._tool} ran before ({answer.aid[:8]}) and does not run again, but its "
                f"result cannot be given back: {why}",
                answer.text,
            ) from why


def failure_text(failure: BaseException) -> str:
    """Say how a call failed: the error's type and text."""
    text = str(failure)
    kind = type(failure).__name__
    return f"{kind}: {text}" if text else kind


def failure_code(failure: BaseException) -> str | None:
    """Give the code of a call that was stopped; None for an error of its own."""
    if isinstance(failure, asyncio.CancelledError):
        return "cancelled"
    return None if isinstance(failure, Exception) else "interrupted"
