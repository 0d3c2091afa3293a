"""How calls join the line of a thread."""

import asyncio

import pytest

from zataku.table.backend.errors import StoreClosed
from zataku.table.embedded.queue import GROUP_CALLS, Line, answer, run


def serve(line: Line[list[str]], desk: list[str]) -> int:
    """Serve those who are next in line; gives how many they were."""
    calls = line.take()
    assert calls is not None
    for call in calls:
        run(call, desk)
    answer(calls)
    return len(calls)


async def test_those_who_call_in_one_turn_of_the_loop_are_served_together():
    line: Line[list[str]] = Line()
    desk: list[str] = []
    waiting = [line.submit(lambda desk, name=name: desk.append(name)) for name in "abcdefghijklmnop"]
    assert line.empty
    await asyncio.sleep(0)
    assert serve(line, desk) == len(waiting)
    await asyncio.gather(*waiting)
    assert "".join(desk) == "abcdefghijklmnop"


async def test_a_large_crowd_does_not_wait_for_its_last():
    line: Line[list[str]] = Line()
    waiting = [line.submit(len) for _ in range(GROUP_CALLS)]
    assert not line.empty
    await asyncio.sleep(0)
    assert serve(line, []) == len(waiting)
    assert await asyncio.gather(*waiting) == [0] * len(waiting)


async def test_a_call_on_its_way_when_the_line_ends_is_refused():
    line: Line[list[str]] = Line()
    late = line.submit(len)
    line.end(StoreClosed("The store is closed. Start it again."))
    with pytest.raises(StoreClosed):
        await late
    with pytest.raises(StoreClosed):
        line.submit(len)
    assert line.take() is None
