"""A server visits all objects only while few sockets are open, and not for longer than an hour without."""

import ctypes
import gc
from collections.abc import Generator
from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from zataku.server.admin.history import resident_megabytes
from zataku.server.process.garbage_collection import (
    CHECK_SECONDS,
    MAX_SECONDS,
    QUIET_SECONDS,
    QUIET_SOCKETS,
    TICKS_PER_NEXT,
    YOUNG_SECONDS,
    bounded_collection,
)


@pytest.fixture
def full_collections() -> Generator[list[int]]:
    collections: list[int] = []

    def record(phase: str, info: dict[str, Any]) -> None:
        if phase == "stop" and info["generation"] == 2:
            collections.append(info["collected"])

    gc.callbacks.append(record)
    yield collections
    gc.callbacks.remove(record)


class Node:
    def __init__(self) -> None:
        self.itself: Node | None = self


def create_garbage(nodes: int) -> None:
    for _ in range(nodes):
        Node()


async def test_a_quiet_server_collects_everything_in_each_interval(full_collections: list[int]):
    clock = ManualClock()
    async with bounded_collection(clock, lambda: QUIET_SOCKETS):
        at_start = len(full_collections)
        for _ in range(2 * int(QUIET_SECONDS / CHECK_SECONDS)):
            await clock.wait_for_sleepers()
            await clock.advance(CHECK_SECONDS)
    assert len(full_collections) == at_start + 2


async def test_a_busy_server_collects_only_young_objects_for_an_hour(full_collections: list[int]):
    clock = ManualClock()
    async with bounded_collection(clock, lambda: QUIET_SOCKETS + 1):
        at_start = len(full_collections)
        survivors = [Node() for _ in range(100_000)]
        create_garbage(100_000)
        for _ in range(int(MAX_SECONDS / CHECK_SECONDS) - 1):
            await clock.wait_for_sleepers()
            await clock.advance(CHECK_SECONDS)
        assert len(full_collections) == at_start
        await clock.wait_for_sleepers()
        await clock.advance(CHECK_SECONDS)
        assert len(full_collections) == at_start + 1
        survivors.clear()


async def test_objects_that_replace_others_do_not_pile_up_in_the_young_generations():
    clock, nodes = ManualClock(), [Node() for _ in range(20_000)]
    async with bounded_collection(clock, lambda: QUIET_SOCKETS + 1):
        # As many are freed as are created, so that Python collects nothing by itself.
        for number in range(len(nodes)):
            nodes[number].itself = None
            nodes[number] = Node()
        assert len(gc.get_objects(generation=0)) > len(nodes)
        await clock.wait_for_sleepers(2)
        await clock.advance(YOUNG_SECONDS)
        assert len(gc.get_objects(generation=0)) < len(nodes) / 10
        await clock.advance(YOUNG_SECONDS * TICKS_PER_NEXT)
        assert len(gc.get_objects(generation=1)) < len(nodes) / 10


async def test_what_the_start_has_created_is_not_visited_again():
    frozen, thresholds = gc.get_freeze_count(), gc.get_threshold()
    async with bounded_collection(ManualClock(), lambda: 0):
        assert gc.get_freeze_count() > frozen
    assert gc.get_threshold() == thresholds


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc can be asked for it")
async def test_memory_that_is_scattered_over_the_heap_goes_back_to_the_system():
    clock = ManualClock()
    async with bounded_collection(clock, lambda: 0):
        before = resident_megabytes()
        blocks = [bytes(4096) for _ in range(20_000)]
        kept = blocks[::100]
        blocks.clear()
        assert resident_megabytes() - before > 60
        await clock.wait_for_sleepers()
        await clock.advance(CHECK_SECONDS)
        assert resident_megabytes() - before < 20
        kept.clear()
