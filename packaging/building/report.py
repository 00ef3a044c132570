"""The build's report: what was made, its figures, and the limits that they have to keep."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from building import archive, identity

MAX_UNPACKED = 190_000_000
MAX_COMPRESSED = 75_000_000
MAX_RATIO = 1.5
"""How long the frozen program may take to its first window, by what the unfrozen one takes."""


@dataclass
class Report:
    """Collects figures while the build goes on; sizes in bytes, times in seconds."""

    figures: dict[str, Any] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What could not be made or tried here, each with the reason."""
    unsettled: list[str] = field(default_factory=identity.unsettled)
    """What the publisher has to set before the first release."""

    def excesses(self) -> list[str]:
        """Which figures are over their limits, as sentences."""
        limits = {
            "unpacked_bytes": MAX_UNPACKED,
            "archive_bytes": MAX_COMPRESSED,
            "deb_bytes": MAX_COMPRESSED,
            "first_window_ratio": MAX_RATIO,
        }
        return [
            f"{name} is {self.figures[name]}, and may be {limit} at most."
            for name, limit in limits.items()
            if self.figures.get(name, 0) > limit
        ]

    def write(self, output: Path) -> None:
        """Write `report.json` and `REPORT.md` into OUTPUT."""
        told = {
            "version": identity.version(),
            "machine": platform.machine(),
            "system": platform.system(),
            "python": platform.python_version(),
            "figures": self.figures,
            "limits": {
                "unpacked_bytes": MAX_UNPACKED,
                "compressed_bytes": MAX_COMPRESSED,
                "first_window_ratio": MAX_RATIO,
            },
            "over_the_limit": self.excesses(),
            "left_out": self.left_out,
            "to_be_set_before_a_release": self.unsettled,
            "files": {
                path.name: {"bytes": path.stat().st_size, "sha256": archive.sha256(path)}
                for path in sorted(self.files)
            },
        }
        (output / "report.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        rows = [f"| {name} | {value} |" for name, value in self.figures.items()]
        made = [f"| {path.name} | {path.stat().st_size:,} |" for path in sorted(self.files)]
        lines = [
            f"# Lineclear {identity.version()}: the build",
            "",
            f"{platform.system()} {platform.machine()}, Python {platform.python_version()}.",
            f"Limits: unpacked {MAX_UNPACKED:,} bytes, compressed {MAX_COMPRESSED:,} bytes.",
            f"The first window may take {MAX_RATIO} times what the unfrozen program takes.",
            "",
            *("| figure | value |", "| --- | --- |", *rows, ""),
            *("| file | bytes |", "| --- | --- |", *made, ""),
            *(f"Over the limit: {told}" for told in self.excesses()),
            *(f"Left out: {told}" for told in self.left_out),
            *(f"To be set before a release: {told}" for told in self.unsettled),
        ]
        (output / "REPORT.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
