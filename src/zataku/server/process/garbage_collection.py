"""Garbage collection of a server: young objects often, everything only while few sockets are open.

Nearly all memory is freed by reference counts, that of connections as well. A full collection finds a few objects at
most but visits all of them, more than forty for each socket: with 5,000 sockets it stops the server for a quarter of a
second.

Afterwards free memory goes back to the system: after a crowd of slow readers it is scattered over the heap.
"""

import asyncio
import ctypes
import gc
import itertools
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from zataku.clock import Clock, has_passed

YOUNG_OBJECTS = 700
"""New objects until the youngest generation is collected, as in Python itself. It takes less than a millisecond."""
YOUNG_COLLECTIONS = 10
"""Such collections until the next generation is collected, too, which takes a few milliseconds."""
YOUNG_SECONDS = 0.05
"""The longest time between two collections of the youngest generation.

Python counts how many more objects were created than freed. Thousands of sockets whose timers and futures are replaced
keep that at zero, and what is young meanwhile grows to tens of thousands of objects, which one collection then visits.
"""
TICKS_PER_NEXT = 4
"""Every so many of these collections take the next generation, too."""
NEVER = 1 << 30
CHECK_SECONDS = 20.0
QUIET_SOCKETS = 250
"""With so few sockets a full collection takes tens of milliseconds."""
QUIET_SECONDS = 300.0
"""The time between two full collections with so few sockets."""
MAX_SECONDS = 3600.0
"""The longest time without a full collection, however many sockets are open."""

_libc = ctypes.CDLL(None)


@asynccontextmanager
async def bounded_collection(clock: Clock, count_sockets: Callable[[], int]) -> AsyncGenerator[None]:
    """Never visit again what the start has created, young objects often, and everything else while it is quiet."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, YOUNG_COLLECTIONS, NEVER)
    tasks = [
        asyncio.create_task(collect) for collect in (_collect_young(clock), _collect_while_quiet(clock, count_sockets))
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        gc.set_threshold(*thresholds)


async def _collect_young(clock: Clock) -> None:
    for tick in itertools.count(1):
        await clock.sleep(YOUNG_SECONDS)
        gc.collect(1 if tick % TICKS_PER_NEXT == 0 else 0)


async def _collect_while_quiet(clock: Clock, count_sockets: Callable[[], int]) -> None:
    collected_at = clock.now()
    while True:
        await clock.sleep(CHECK_SECONDS)
        is_quiet = count_sockets() <= QUIET_SOCKETS
        if has_passed(collected_at, clock.now(), QUIET_SECONDS if is_quiet else MAX_SECONDS):
            gc.collect()
            collected_at = clock.now()
        if is_quiet:
            _return_free_memory()


def _return_free_memory() -> None:
    """Return free pages of the C heap to the system, which glibc does by itself only at the end of the heap."""
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)
