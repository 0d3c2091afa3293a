"""A large room is written in slices, so that the event loop does other work in between."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from tests.realtime.sockets.memory_connection import MemoryConnection, make_hub, open_socket
from zataku.realtime.messages import EventsMissed
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits

LIMITS = SocketLimits(sockets_per_turn=10)


def open_room(hub: Hub, members: int, topic: str = "live/1") -> list[MemoryConnection]:
    return [open_socket(hub, topic, name=f"{topic}/{number}")[1] for number in range(members)]


def written(connections: list[MemoryConnection]) -> int:
    return sum(len(connection.writes) for connection in connections)


async def take_turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@asynccontextmanager
async def largest_write_of_a_turn(room: list[MemoryConnection]) -> AsyncGenerator[list[int]]:
    """Filled at the end with the most sockets written in one turn, when every socket has one more write."""
    expected, largest = written(room) + len(room), [0]

    async def watch() -> None:
        before = written(room)
        while written(room) < expected:
            await asyncio.sleep(0)
            before, now = written(room), before
            largest[0] = max(largest[0], before - now)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    yield largest
    await watching


async def test_a_broadcast_writes_a_slice_in_each_turn():
    hub, _ = make_hub(LIMITS)
    room = open_room(hub, 35)
    hub.broadcast("live/1", b"1")
    progress = [written(room)]
    for _ in range(3):
        await asyncio.sleep(0)
        progress.append(written(room))
    assert progress == [10, 20, 30, 35]
    assert hub.counters.messages_out == 35


async def test_broadcasts_to_many_rooms_share_the_slice_of_a_turn():
    hub, _ = make_hub(LIMITS)
    rooms = [open_room(hub, 4, f"live/{number}") for number in range(5)]
    for number in range(5):
        hub.broadcast(f"live/{number}", b"1")
    progress = [sum(map(written, rooms))]
    for _ in range(2):
        await asyncio.sleep(0)
        progress.append(sum(map(written, rooms)))
    assert progress == [10, 20, 20]


async def test_a_conversation_does_not_wait_for_a_flush_while_another_room_is_written():
    hub, clock = make_hub(LIMITS)
    crowd, (few,) = open_room(hub, 500), open_room(hub, 1, "live/2")
    for number in range(2):
        hub.broadcast("live/2", b"%d" % number)
    await clock.advance(LIMITS.min_flush_seconds)  # the second waited alone
    hub.broadcast("live/1", b"crowd")
    await clock.advance(LIMITS.min_flush_seconds / 4)
    hub.broadcast("live/2", b"2")
    assert written(crowd) < 500
    await take_turns(100)
    assert few.payloads == [b"0", b"1", b"2"]
    assert written(crowd) == 500


async def test_a_small_room_does_not_wait_until_a_large_one_is_written():
    hub, _ = make_hub(LIMITS)
    crowd, few = open_room(hub, 50), open_room(hub, 8, "live/2")
    hub.broadcast("live/1", b"crowd")
    hub.broadcast("live/2", b"few")
    progress = [(written(crowd), written(few))]
    for _ in range(4):
        await asyncio.sleep(0)
        progress.append((written(crowd), written(few)))
    # Half of each slice is for the one that began first, until the other is written.
    assert progress == [(10, 0), (15, 5), (22, 8), (32, 8), (42, 8)]


async def test_small_rooms_do_not_hold_up_a_large_one_for_ever():
    hub, _ = make_hub(LIMITS)
    crowd = open_room(hub, 50)
    hub.broadcast("live/1", b"crowd")
    for number in range(8):
        few = open_room(hub, 5, f"live/few-{number}")
        hub.broadcast(f"live/few-{number}", b"few")
        await asyncio.sleep(0)
        assert (written(few), written(crowd)) == (5, 10 + 5 * (number + 1))


async def test_a_socket_of_two_rooms_gets_both_messages_in_order():
    hub, _ = make_hub(LIMITS)
    open_room(hub, 50)
    _, of_both = open_socket(hub, "live/1", "live/2", name="both")
    few = open_room(hub, 3, "live/2")
    hub.broadcast("live/1", b"crowd")
    hub.broadcast("live/2", b"few")
    await take_turns(20)
    assert of_both.payloads == [b"crowd", b"few"]
    assert written(few) == 3


async def test_a_conversation_in_a_large_room_waits_for_the_flush_while_the_room_is_written():
    hub, clock = make_hub(LIMITS)
    room = open_room(hub, 500)
    for number in range(2):
        hub.broadcast("live/1", b"%d" % number)
    await take_turns(100)
    await clock.advance(LIMITS.max_flush_seconds)
    await take_turns(100)
    await clock.advance(LIMITS.max_flush_seconds)
    assert written(room) == 2 * 500
    hub.broadcast("live/1", b"2")
    await clock.advance(LIMITS.max_flush_seconds / 8)
    assert written(room) < 3 * 500
    hub.broadcast("live/1", b"3")
    await take_turns(100)
    assert written(room) == 3 * 500
    await clock.advance(LIMITS.max_flush_seconds)
    await take_turns(100)
    assert written(room) == 4 * 500


async def test_a_flush_writes_a_slice_in_each_turn():
    hub, clock = make_hub(LIMITS)
    room = open_room(hub, 35)
    for number in range(3):
        hub.broadcast("live/1", b"%d" % number)
    for _ in range(3):
        await asyncio.sleep(0)
    async with largest_write_of_a_turn(room) as largest:
        await clock.advance(LIMITS.max_flush_seconds)
    assert largest == [10]
    assert all(connection.payloads == [b"0", b"1", b"2"] for connection in room)


async def test_a_reply_does_not_overtake_a_broadcast_that_has_not_reached_its_socket():
    hub, clock = make_hub(LIMITS)
    room = open_room(hub, 20)
    last, connection = open_socket(hub, "live/1", name="last")
    hub.broadcast("live/1", b"1")
    hub.send(last, EventsMissed(to="x"))
    assert connection.payloads == []
    await clock.advance(LIMITS.max_flush_seconds)
    assert [payload[:4] for payload in connection.payloads] == [b"1", b'{"t"']
    assert written(room) == 20


async def test_a_socket_that_ends_during_a_delivery_gets_no_more():
    hub, clock = make_hub(LIMITS)
    open_room(hub, 20)
    last, connection = open_socket(hub, "live/1", name="last")
    hub.broadcast("live/1", b"1")
    hub.close(last, 1000, "")
    await clock.advance(LIMITS.max_flush_seconds)
    assert (connection.writes, connection.writes_after_close) == ([], 0)


async def test_a_stopping_server_writes_everything_before_it_closes():
    hub, _ = make_hub(LIMITS)
    room = open_room(hub, 35)
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", b"2")
    hub.disconnect_all(1000)
    assert all(connection.payloads[:2] == [b"1", b"2"] for connection in room)
    assert all(b'"t":"come_back"' in connection.payloads[2] for connection in room)
    await hub.stop()


async def test_a_connection_that_fails_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch):
    hub, _ = make_hub(LIMITS)
    room = open_room(hub, 35)

    def fail(_: bytes) -> None:
        raise RuntimeError

    monkeypatch.setattr(room[15], "write", fail)
    with capture_logs() as logs:
        hub.broadcast("live/1", b"1")
        for _ in range(4):
            await asyncio.sleep(0)
    assert [connection.payloads for connection in room[20:]] == [[b"1"]] * 15
    assert [entry["event"] for entry in logs] == ["socket_write_failed"]
