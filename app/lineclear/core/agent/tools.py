"""The tools of an executor: any callable, called with the arguments that were approved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lineclear.core.agent.binding import Binding, first_line, is_async
from lineclear.core.agent.guard import failure_text
from lineclear.core.agent.plainjson import plain
from lineclear.core.agent.results import ResultText
from lineclear.core.agent.threads import outlast
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json


@dataclass(frozen=True, slots=True)
class Ran:
    """How a tool ended, and the text that the model gets."""

    ok: bool
    text: str


def error_text(failure: BaseException) -> str:
    """Tell the model that a tool failed, as lc-agents does."""
    return f"[Tool execution error: {failure_text(failure)}]"


class Tool:
    """One tool.

    Args:
        function: async or sync (run in a thread). An object of arguments is passed by name, any
            other JSON value as the only argument. A parameter `idempotency_key` gets the call's id.
        asks: whether a person is asked before it runs.
    """

    def __init__(self, function: Callable[..., Any], *, asks: bool = True) -> None:
        self.asks = asks
        self._function = function
        self._binding = Binding(function)
        self._results = ResultText(self._binding.returns)
        self.schema = self._binding.schema()
        self.description = first_line(function)

    def check(self, arguments: Json) -> None:
        """Refuse arguments that the function cannot be called with; ValueError with a sentence."""
        self._binding.check(self._named(arguments))

    async def run(self, arguments: Json, aid: str) -> str:
        """Run the tool and give its result as text; raises what the tool raises.

        Cancelled, a sync tool is waited for, because nothing can stop its thread.
        """
        bound = self._binding.call(self._named(plain(arguments)), aid)
        if is_async(self._function):
            result = await self._function(*bound.args, **bound.kwargs)
        else:
            result = await _in_thread(lambda: self._function(*bound.args, **bound.kwargs))
        if isinstance(result, str):
            return jsontext.storable(result)
        return self._results.write(result)

    def _named(self, arguments: Json) -> dict[str, Json]:
        return arguments if isinstance(arguments, dict) else self._binding.single(arguments)


async def _in_thread(work: Callable[[], Any]) -> Any:
    # Not asyncio.to_thread: cancelled, it would give up a tool that goes on running.
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="lineclear-tool") as pool:
        future = pool.submit(work)
        stopped = await outlast(future)
    task = asyncio.current_task()
    if stopped is not None and task is not None:
        # The outcome is recorded as it is; the cancellation takes effect right after.
        task.uncancel()
        task.cancel(*stopped.args)
    return future.result()
