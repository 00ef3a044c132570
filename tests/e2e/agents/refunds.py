"""An agent that sends refunds behind a Gate.

usage: refunds EFFECTS CUSTOMER=AMOUNT ... [--name N] [--instance I] [--at-once] [--threads]
               [--hang] [--keyed]

Prints one JSON object per call, in the order of the calls: {"result"}, {"denied"} or {"error"}.
With --hang a tool never returns after its effect; with --keyed a call is named by its customer.
"""

import argparse
import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from lineclear import Denied, Gate, LineclearError, StoreHeld
from tests.e2e.agents import effect

Refunds = list[tuple[str, int]]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("effects")
    parser.add_argument("refunds", nargs="+")
    parser.add_argument("--name", default="refund-bot")
    parser.add_argument("--instance")
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--hang", action="store_true")
    parser.add_argument("--keyed", action="store_true")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    refunds = [(text.partition("=")[0], int(text.partition("=")[2])) for text in options.refunds]
    try:
        gate = Gate(options.name, instance=options.instance)
    except StoreHeld as held:
        effect.say(held=str(held), pid=held.pid)
        return 6
    if options.threads:
        said = in_threads(gate, options, refunds)
    else:
        said = asyncio.run(in_coroutines(gate, options, refunds))
    for line in said:
        effect.say(**line)
    return 0


def refund(options: argparse.Namespace, customer: str, amount: int) -> str:
    effect.append(options.effects, f"{customer} {amount}")
    if options.hang:
        signal.pause()
    return f"refund of {amount} to {customer} sent"


def key(options: argparse.Namespace) -> str | Callable[..., str]:
    return (lambda customer, amount: f"refund for {customer}") if options.keyed else ""


async def in_coroutines(
    gate: Gate, options: argparse.Namespace, refunds: Refunds
) -> list[dict[str, Any]]:
    @gate.guard(key=key(options))
    async def send_refund(customer: str, amount: int) -> str:
        return refund(options, customer, amount)

    async def one(customer: str, amount: int) -> dict[str, Any]:
        try:
            return {"result": await send_refund(customer, amount)}
        except LineclearError as why:
            return told(why)

    if options.at_once:
        return list(await asyncio.gather(*(one(*each) for each in refunds)))
    return [await one(*each) for each in refunds]


def in_threads(gate: Gate, options: argparse.Namespace, refunds: Refunds) -> list[dict[str, Any]]:
    @gate.guard(key=key(options))
    def send_refund(customer: str, amount: int) -> str:
        return refund(options, customer, amount)

    said: list[dict[str, Any]] = [{} for _ in refunds]

    def one(place: int, customer: str, amount: int) -> None:
        try:
            said[place] = {"result": send_refund(customer, amount)}
        except LineclearError as why:
            said[place] = told(why)

    threads = [
        threading.Thread(target=one, args=(place, *each)) for place, each in enumerate(refunds)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def told(why: LineclearError) -> dict[str, Any]:
    if isinstance(why, Denied):
        return {"denied": why.reason}
    return {"error": why.code, "sentence": why.sentence}


if __name__ == "__main__":
    sys.exit(main())
