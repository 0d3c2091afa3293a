"""A bounded rate of an attack, and its bounded duration."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from time import monotonic

import msgspec


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What an attack may send at most, over how many seconds, from how many connections at once."""

    messages: int
    seconds: float
    connections: int


async def paced(count: int, per_second: float, seconds: float) -> AsyncIterator[int]:
    """The numbers below a count, each at its time. A busy machine gets twice the seconds, then the rest is left out."""
    began = monotonic()
    for number in range(count):
        wait = began + number / per_second - monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        if monotonic() - began > 2 * seconds:
            return
        yield number


async def gather_bounded(workers: int, work: Callable[[int], Coroutine[None, None, None]]) -> None:
    """Run a number of workers at the same time, each with its number."""
    async with asyncio.TaskGroup() as group:
        for number in range(workers):
            group.create_task(work(number))


def source_address(family: int, number: int) -> str:
    """A loopback address of a family of attackers; the audience has those of 127.0.1.0/24."""
    return f"127.0.{10 + family}.{1 + number % 250}"
