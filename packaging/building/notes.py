"""Release notes: one version's part of CHANGELOG.md, as it is and as AppStream's paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

_HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d\d-\d\d))?$")
UNRELEASED = "Unreleased"


@dataclass(frozen=True)
class Notes:
    """What is new in a version; `date` is None for one that is not released yet."""

    version: str
    date: str | None
    text: str
    """Markdown, without the version's own heading."""

    def items(self) -> list[str]:
        """Each entry as one line of plain text."""
        found: list[str] = []
        for line in self.text.splitlines():
            if line.startswith("- "):
                found.append(line[2:].strip())
            elif line.startswith("  ") and found:
                found[-1] += " " + line.strip()
        return [re.sub(r"[`*]", "", entry) for entry in found]


def parts(changelog: str) -> list[Notes]:
    """All versions of a changelog, newest first."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in changelog.splitlines():
        heading = _HEADING.match(line)
        if heading is not None:
            found.append((heading, []))
        elif line.startswith("## "):
            raise SystemExit(f"CHANGELOG.md: {line!r} is no '## [VERSION] - YYYY-MM-DD'.")
        elif found:
            found[-1][1].append(line)
    return [
        Notes(heading["version"], heading["date"], "\n".join(lines).strip())
        for heading, lines in found
    ]


def of(version: str, changelog: Path) -> Notes:
    """The notes of VERSION; while it has none, those of what is unreleased."""
    known = {part.version: part for part in parts(changelog.read_text(encoding="utf-8"))}
    found = known.get(version) or known.get(UNRELEASED)
    if found is None:
        raise SystemExit(f"{changelog} has neither a part [{version}] nor one [{UNRELEASED}].")
    return found


def markdown(notes: Notes, version: str) -> str:
    """The notes as a page of their own."""
    dated = f", {notes.date}" if notes.date else ", not released yet"
    return f"# Lineclear {version}{dated}\n\n{notes.text}\n"


def appstream(notes: Notes) -> str:
    """The notes as a list for AppStream."""
    entries = "\n".join(f"          <li>{escape(entry)}</li>" for entry in notes.items())
    return f"        <ul>\n{entries}\n        </ul>"
