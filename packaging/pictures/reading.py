"""Pictures of the reading pane: secrets, differences, files, code and what was found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

from lineclear.ui.queue.sections import Section
from pictures.set import Set, until
from pictures.stage import call

KEY = "sk-live-51HxT0kQmZ8rP2vNcLw7aYdE4uGfJb"
HOSTS = "127.0.0.1 localhost\n10.0.0.5 db.internal\n10.0.0.6 cache.internal\n"
SCRIPT = '''\
"""Archive old orders."""
import sqlite3

LIMIT = 500

def archive(path: str, year: int) -> int:
    # Only closed orders.
    with sqlite3.connect(path) as db:
        rows = db.execute("select id from orders where year = ?", (year,))
        return len(rows.fetchall()[:LIMIT])
'''
SQL = """\
select c.name, sum(o.amount) as total  -- closed orders only
from orders o join customers c on c.id = o.customer
where o.day between '2026-11-01' and '2026-11-30' and o.amount > 120.50
group by c.name order by total desc limit 20;
"""


async def _read(on: Set, name: str, tool: str, arguments: object, agent: str) -> None:
    on.calls[name] = on.stage.ask(agent, call(tool, arguments, agent), 1.5, lane=3)
    await on.choose(name)


def _approved(on: Set, tool: str, arguments: object, agent: str) -> None:
    aid = on.stage.ask(agent, call(tool, arguments, agent), 60)
    on.stage.finish(aid, "ok", "Done.")


async def secrets(on: Set) -> None:
    """Secrets by the name of their key and by their look."""
    _approved(on, "post", {"api_key": KEY, "url": "https://x.example"}, "poster")
    command = f"curl -H 'Authorization: Bearer {KEY}' https://api.example.org/v1/refunds"
    arguments = {
        "url": "postgres://app:hunter2@db.internal/orders",
        "api_key": KEY,
        "password": "pa\u202ess",
        "command": command,
        "retries": 3,
    }
    await _read(on, "secrets", "post", arguments, "poster")


async def secrets_text(on: Set) -> None:
    """The same as text, one of them shown."""
    await secrets(on)
    on.window.pane.call.switch.click()
    on.window.pane.call.reveal(("password",))
    await asyncio.sleep(0.2)


async def changes(on: Set) -> None:
    """Field by field against the call approved last, and the run's previous one."""
    note = "Please refund the whole order: it was delivered damaged, twice, and the customer waits."
    before = {
        "customer": "C-1188",
        "amount": 80.0,
        "note": note,
        "notify": True,
        "tags": ["a", "b"],
    }
    now = {
        "customer": "C-1188",
        "amount": 120.5,
        "note": note.replace("twice", "\u202etwice").replace("waits", "waited"),
        "currency": "EUR",
        "tags": ["a", "c", "b"],
    }
    _approved(on, "send_refund", before, "refunder")
    await _read(on, "changes", "send_refund", now, "refunder")
    on.window.pane.tabs.setCurrentWidget(on.window.pane.changes)
    await asyncio.sleep(0.3)


async def was(on: Set) -> None:
    """The same beside each field."""
    await changes(on)
    on.window.pane.tabs.setCurrentWidget(on.window.pane.call)
    await asyncio.sleep(0.3)


async def diff(on: Set) -> None:
    """A file before and after, which changed since the call was asked."""
    path = on.stage.source.parent / "hosts"
    lines = [f"10.0.1.{n} node-{n}.internal" for n in range(40)]
    path.write_text(HOSTS + "\n".join(lines) + "\n")
    after = HOSTS.replace("10.0.0.5", "10.66.0.5") + "\n".join([*lines[:30], "# gone"]) + "\n"
    await _read(on, "diff", "write_file", {"path": str(path), "content": after}, "writer")
    await until(lambda: on.window.pane.diff._shown)  # noqa: SLF001
    on.window.pane.tabs.setCurrentWidget(on.window.pane.diff)
    await asyncio.sleep(0.5)


async def patch(on: Set) -> None:
    """A patch."""
    head = "--- a/app.py\n+++ b/app.py\n@@ -1,4 +1,4 @@\n"
    text = f"{head} import os\n-DEBUG = False\n+DEBUG = True\n x = 1\n"
    await _read(on, "patch", "apply_patch", {"patch": text}, "patcher")
    await until(lambda: on.window.pane.diff._shown)  # noqa: SLF001
    on.window.pane.tabs.setCurrentWidget(on.window.pane.diff)
    await asyncio.sleep(0.3)


async def code(on: Set) -> None:
    """Values that are programs' texts, as fields."""
    arguments = {
        "path": "archive.py",
        "python": SCRIPT,
        "sql": SQL,
        "json": '{"a": [1, true, "x"]}',
    }
    await _read(on, "code", "run", arguments, "coder")


async def code_text(on: Set) -> None:
    """The same as text."""
    await code(on)
    on.window.pane.call.switch.click()
    await asyncio.sleep(0.2)


async def find(on: Set) -> None:
    """Words that were found in a long text."""
    await on.choose("hosts")
    on.do("find")
    on.window.pane.finder.words.setText("service-12")
    await asyncio.sleep(0.4)
    on.do("find_next")
    await asyncio.sleep(0.4)


async def find_fields(on: Set) -> None:
    """Words that were found in fields."""
    await on.choose("refund")
    on.do("find")
    on.window.pane.finder.words.setText("er")
    await asyncio.sleep(0.4)


async def find_broken(on: Set) -> None:
    """A word that is found though a look-alike's code stands in it."""
    arguments = {"to": "p\u0430ypal", "note": "pay the paypal account", "days": 3}
    await _read(on, "broken", "pay", arguments, "payer")
    on.do("find")
    on.window.pane.finder.words.setText("paypal")
    await asyncio.sleep(0.4)


async def run_secrets(on: Set) -> None:
    """A run without a call, in whose conversation a secret stands."""
    place = ("planner", "run.checkpoint.json")
    on.stage.leave("fixtures/starweaver/v041_run_failed.json", *place)
    target = on.stage.source.joinpath(*place)
    document = json.loads(target.read_text("utf-8"))
    document["metadata"] = {"lineclear": {"suspended": f"the key {KEY} is wrong"}}
    target.write_text(json.dumps(document), "utf-8")
    await on.section(Section.TO_RESUME)
    await until(lambda: on.choose_agent("planner"))
    await until(on.window.pane.call.run_secrets.isVisible)
    await asyncio.sleep(0.4)


async def file_bytes(on: Set) -> None:
    """The file's bytes, masked."""
    await secrets(on)
    on.window.pane.tabs.setCurrentWidget(on.window.pane.file)
    await asyncio.sleep(0.3)


async def modify_secrets(on: Set) -> None:
    """Secrets where one writes, one of them shown."""
    await secrets(on)
    on.do("modify")
    editor = on.window.pane.modify
    editor.yours.setPlainText(editor.draft().replace(": 3", ": 5"))
    editor.reveal(("password",))
    await asyncio.sleep(0.4)


async def review_secrets(on: Set) -> None:
    """What is kept of them is masked in the review too."""
    await modify_secrets(on)
    on.do("submit")
    await asyncio.sleep(1.0)


async def relative(on: Set) -> None:
    """A relative path, of which only likely is where it leads."""
    arguments = {"path": "pyproject.toml", "content": "[project]\nname = 'x'\n"}
    await _read(on, "relative", "write_file", arguments, "writer")
    on.window.pane.tabs.setCurrentWidget(on.window.pane.diff)
    await asyncio.sleep(0.4)


READING: dict[str, Callable[[Set], Awaitable[None]]] = {
    "secrets": secrets,
    "secrets-text": secrets_text,
    "changes": changes,
    "was": was,
    "diff": diff,
    "patch": patch,
    "code": code,
    "code-text": code_text,
    "find": find,
    "find-fields": find_fields,
    "find-broken": find_broken,
    "run-secrets": run_secrets,
    "file-masked": file_bytes,
    "modify-secrets": modify_secrets,
    "review-secrets": review_secrets,
    "relative": relative,
}
