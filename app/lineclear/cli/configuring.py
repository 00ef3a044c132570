"""`lineclear config`: prints and changes the settings."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from lineclear.cli import trusting
from lineclear.cli.exits import Exit, UsageError
from lineclear.cli.terminal import Terminal
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import NothingPending, Unreadable
from lineclear.core.inbox.operator.settings import (
    LaunchSetting,
    Settings,
    fault_of,
    load,
    settings_path,
)
from lineclear.core.inbox.operator.settings_change import change, keep_aside
from lineclear.core.inbox.relaunch.command import PLACEHOLDERS
from lineclear.core.inbox.sources.wide_sources import too_wide
from lineclear.core.places import path_text

_BRACED: Final = re.compile(r"\{\w+\}?")


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Do one action on the settings; without one, print them."""
    match options.action:
        case None | "show":
            _show(load(), terminal, as_json=getattr(options, "json", False))
        case "path":
            path = path_text(settings_path())
            _print_value(path, terminal, as_json=options.json)
        case "get":
            _print_value(_value(load(), options.key), terminal, as_json=options.json)
        case "keep-aside":
            _keep_aside(terminal)
        case "trust":
            return trusting.run(options, terminal)
        case _:
            change(lambda now: _changed(options, now))
            if options.action == "set-launch":
                _note_odd_placeholders(options.argv, terminal)
    return Exit.DONE


def _keep_aside(terminal: Terminal) -> None:
    aside = keep_aside()
    if aside is None:
        raise NothingPending(f"Nothing is wrong with {path_text(settings_path())}.")
    terminal.say(f"Kept as {path_text(aside)}; the defaults hold from now on.")


def _changed(options: argparse.Namespace, settings: Settings) -> Settings:
    match options.action:
        case "set":
            return _with(settings, options.key, _typed(settings, options.key, options.value))
        case "unset":
            _value(settings, options.key)
            document = settings.model_dump(mode="json", exclude_unset=True)
            document.pop(options.key, None)
            return _validated(document)
        case "add-source":
            return _add_source(options, settings)
        case "remove-source":
            return _remove_source(options, settings)
        case "set-launch":
            return _set_launch(options, settings)
        case _:
            return _remove_launch(options, settings)


def _show(settings: Settings, terminal: Terminal, *, as_json: bool) -> None:
    document = settings.model_dump(mode="json")
    if as_json:
        terminal.json(document)
        return
    terminal.say(f"Settings in {path_text(settings_path())}")
    for line in jsontext.pretty(document).decode("utf-8").split("\n"):
        terminal.say(visible_line(line))


def _value(settings: Settings, key: str) -> Any:
    document = settings.model_dump(mode="json")
    if key not in document:
        raise NothingPending(f"There is no setting {key}; there are: {', '.join(document)}.")
    return document[key]


def _print_value(value: Any, terminal: Terminal, *, as_json: bool) -> None:
    if as_json or not isinstance(value, str):
        terminal.json(value)
    else:
        terminal.say(visible_line(value))


def _typed(settings: Settings, key: str, text: str) -> Any:
    """Read a typed value: JSON where it is any, else the text itself."""
    _value(settings, key)
    if key == "operator" and text != "null":
        return text
    try:
        return jsontext.parse_value(text)
    except Unreadable:
        return text


def _with(settings: Settings, key: str, value: Any) -> Settings:
    return _validated({**settings.model_dump(mode="json", exclude_unset=True), key: value})


def _validated(document: dict[str, Any]) -> Settings:
    try:
        return Settings.model_validate_json(jsontext.compact(document), strict=True)
    except ValidationError as why:
        first = why.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"Nothing was changed: {place}: {fault_of(first)}.") from why
    except ValueError as why:
        raise UsageError(f"Nothing was changed: {why}") from why


def _folder(text: str) -> str:
    return os.path.abspath(Path(text).expanduser())  # noqa: PTH100


def _sources_json(settings: Settings) -> list[dict[str, Any]]:
    return [source.model_dump(mode="json", exclude_unset=True) for source in settings.sources]


def _add_source(options: argparse.Namespace, settings: Settings) -> Settings:
    folder = _folder(options.folder)
    if not Path(folder).is_dir():
        raise UsageError(f"{folder} is no folder.")
    why = too_wide(Path(folder))
    if why is not None and not options.yes:
        raise UsageError(f"{why} With --yes it is watched as it is.")
    added: dict[str, Any] = {"path": folder}
    if options.polling:
        added["polling"] = True
    if options.depth is not None:
        added["depth"] = options.depth
    kept = [one for one in _sources_json(settings) if one["path"] != folder]
    return _with(settings, "sources", [*kept, added])


def _remove_source(options: argparse.Namespace, settings: Settings) -> Settings:
    folder = _folder(options.folder)
    kept = [one for one in _sources_json(settings) if one["path"] != folder]
    if len(kept) == len(settings.sources):
        raise NothingPending(f"{folder} is not watched.")
    return _with(settings, "sources", kept)


def _set_launch(options: argparse.Namespace, settings: Settings) -> Settings:
    program, *arguments = options.argv
    launch: dict[str, Any] = {"argv": [_program(program), *arguments]}
    if options.agent is not None:
        launch["agent"] = options.agent
    if options.source is not None:
        launch["source"] = _folder(options.source)
    if options.cwd is not None:
        launch["cwd"] = _folder(options.cwd)
    if options.env:
        launch["env"] = dict(_variable(text) for text in options.env)
    kept = [one for one in settings.launch if not _is_for(one, options)]
    return _with(settings, "launch", [*_launches_json(kept), launch])


def _note_odd_placeholders(argv: list[str], terminal: Terminal) -> None:
    """Say which words look like a placeholder and are none: they may be meant as they are."""
    odd = [found for part in argv for found in _BRACED.findall(part) if found not in PLACEHOLDERS]
    if odd:
        told = ", ".join(dict.fromkeys(visible_line(one, 40) for one in odd))
        known = ", ".join(PLACEHOLDERS)
        terminal.complain(f"Only {known} are replaced; handed over as it stands: {told}")


def _remove_launch(options: argparse.Namespace, settings: Settings) -> Settings:
    kept = [one for one in settings.launch if not _is_for(one, options)]
    if len(kept) == len(settings.launch):
        raise NothingPending("No resume command is set for it.")
    return _with(settings, "launch", _launches_json(kept))


def _launches_json(launches: list[LaunchSetting]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json", exclude_unset=True) for one in launches]


def _is_for(launch: LaunchSetting, options: argparse.Namespace) -> bool:
    if options.agent is not None:
        return bool(launch.agent == options.agent)
    source = Path(_folder(options.source))
    return launch.agent is None and launch.source == source


def _program(name: str) -> str:
    """Give the absolute path of a program, so that a later PATH cannot change what is started."""
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"There is no program {name}.")
    return os.path.abspath(found)  # noqa: PTH100


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"`--env` takes NAME=VALUE, not {text}.")
    return name, value
