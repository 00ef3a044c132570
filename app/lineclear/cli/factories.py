"""Finding the agent that a person named as `package.module:factory`."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lineclear.cli.exits import UsageError
from lineclear.core.agent.errors import AgentFailed


def load_factory(spec: str) -> Callable[..., Any]:
    """Import a factory from this folder or sys.path, as `python -m` would.

    Raises UsageError when there is none of that name; AgentFailed when importing it fails.
    """
    module_name, name = check_spec(spec)
    folder = os.getcwd()  # noqa: PTH109  (sys.path holds text)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    found: Any = _import(module_name, folder)
    for part in name.split("."):
        if not hasattr(found, part):
            raise UsageError(f"There is no {name} in {module_name}.")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{spec} is no function that gives an AgentExecutor.")
    factory: Callable[..., Any] = found
    return factory


def check_spec(spec: str) -> tuple[str, str]:
    """Give module and factory of `package.module:factory`; UsageError where it is none."""
    module_name, colon, name = spec.partition(":")
    parts = [*module_name.split("."), *name.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        raise UsageError(f"`--agent` takes package.module:factory, not {spec}.")
    return module_name, name


def _import(name: str, folder: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as why:
        if why.name is not None and (name == why.name or name.startswith(why.name + ".")):
            raise UsageError(f"There is no module {name} in {folder} or on sys.path.") from why
        raise AgentFailed(f"The agent's module {name} failed: {own_words(why)}.") from why
    except KeyboardInterrupt:
        raise
    except BaseException as why:
        raise AgentFailed(f"The agent's module {name} failed: {own_words(why)}.") from why


def own_words(error: BaseException) -> str:
    """Tell an agent's own error on one line, with the place in its code that raised it."""
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return told
    last = frames[-1]
    return f"{told} ({last.filename}, line {last.lineno}, in {last.name})"
