"""The executor that the README shows is written down there as it runs."""

import asyncio
import re
from pathlib import Path
from typing import Any

from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from tests.cli.program import wait_for

README = Path(__file__).parents[3] / "README.md"


def example() -> dict[str, Any]:
    """Give what the README's example defines."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if "def plan(" in block]
    names: dict[str, Any] = {}
    exec(code, names)
    return names


async def answered(agent: Any, source: Path) -> str:
    """Run it, and approve what it asks."""
    async with agent, asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(agent.invoke("C-1204"))
        await asyncio.to_thread(approve, source)
    return str(running.result())


def approve(source: Path) -> None:
    settings = Settings(sources=(SourceSetting(path=source),))
    row: Any = wait_for(
        lambda: next((r for r in scan_once(settings, settings.sources) if r.tool), None)
    )
    assert (row.tool, row.arguments) == ("send_refund", {"customer": "C-1204", "amount": 80})
    # Told by the Turn; what it leaves out is no zero.
    assert row.usage is not None
    assert (row.usage.tokens_in, row.usage.tokens_out, row.usage.cache) == (900, 40, None)
    decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings)


def test_it_asks_runs_and_answers(tmp_path):
    source = tmp_path / "agents"
    source.mkdir(mode=0o700)
    assert asyncio.run(answered(example()["make"](source / "bot"), source)) == "done: ok"
