"""Batches of the call queue, and calls made while it closes."""

import asyncio

import pytest

from zataku.table.backend.errors import StoreClosed
from zataku.table.embedded.queue import MAX_BATCH_CALLS, CallQueue, execute, resolve


def serve(queue: CallQueue[list[str]], context: list[str]) -> int:
    """Serve the next batch without waiting; returns its number of calls."""
    calls = queue.next_batch(0)
    assert calls is not None
    for call in calls:
        execute(call, context)
    resolve(calls)
    return len(calls)


async def test_calls_of_one_event_loop_turn_form_one_batch():
    queue: CallQueue[list[str]] = CallQueue()
    names: list[str] = []
    waiting = [queue.submit(lambda names, name=name: names.append(name)) for name in "abcdefghijklmnop"]
    assert serve(queue, names) == 0
    await asyncio.sleep(0)
    assert serve(queue, names) == len(waiting)
    await asyncio.gather(*waiting)
    assert "".join(names) == "abcdefghijklmnop"


async def test_a_full_batch_is_queued_before_the_event_loop_turn_ends():
    queue: CallQueue[list[str]] = CallQueue()
    waiting = [queue.submit(len) for _ in range(MAX_BATCH_CALLS)]
    assert serve(queue, []) == len(waiting)
    assert await asyncio.gather(*waiting) == [0] * len(waiting)


async def test_a_call_made_just_before_the_queue_closes_is_refused():
    queue: CallQueue[list[str]] = CallQueue()
    late = queue.submit(len)
    queue.close(StoreClosed("The store is closed. Start it again."))
    with pytest.raises(StoreClosed):
        await late
    with pytest.raises(StoreClosed):
        queue.submit(len)
    assert queue.next_batch() is None
