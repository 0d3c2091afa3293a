"""Rooms that do not exist: whoever names one leaves nothing behind."""

import asyncio

import pytest

from tests.realtime.rooms.counter_room import Count
from tests.realtime.rooms.room_process import ROOM, RoomProcess, guest, wait_until
from zataku.errors import NotFound, RateLimited
from zataku.platform.design import TABLES
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.table import Store

Two = tuple[RoomProcess, RoomProcess]


def kept_rooms(rooms: RoomRegistry, process: RoomProcess) -> set[str]:
    """The names of rooms that are kept anywhere in a process."""
    topics = rooms._handles.keys() | process.hub._topics.keys()
    channels = process.bus._handlers.keys() | process.transport.channels
    return topics | {channel.removeprefix("room/") for channel in channels if channel.startswith("room/")}


async def platform_items(store: Store) -> list[object]:
    return [item for table in TABLES async for item in store.scan(table)]


async def test_joins_of_missing_rooms_keep_no_handle_no_channel_and_no_lease(two: Two, store: Store) -> None:
    one, _ = two
    client = one.client()
    for number in range(20):
        with pytest.raises(NotFound):
            await client.join(f"counter/missing-{number}")
    await wait_until(lambda: not kept_rooms(one.rooms, one))
    assert not client.socket.topics
    assert not one.rooms._context.leases._held
    assert await platform_items(store) == []


async def test_a_missing_room_is_refused_before_the_bus_learns_of_it(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = two
    subscribed: list[str] = []

    async def subscribe(channel: str) -> None:
        subscribed.append(channel)

    monkeypatch.setattr(one.transport, "subscribe", subscribe)
    with pytest.raises(NotFound):
        await one.client().join("counter/missing")
    assert subscribed == []


async def test_commands_to_missing_rooms_keep_nothing_either(two: Two, store: Store) -> None:
    one, _ = two
    with pytest.raises(NotFound):
        await one.add(1, topic="counter/missing")
    await wait_until(lambda: not kept_rooms(one.rooms, one))
    assert await platform_items(store) == []


async def test_a_closed_room_keeps_nothing_either(two: Two, store: Store) -> None:
    one, _ = two
    await store.put(Count(room_id="over", is_closed=True))
    with pytest.raises(NotFound):
        await one.client().join("counter/over")
    await wait_until(lambda: not kept_rooms(one.rooms, one))
    assert await platform_items(store) == []


async def test_a_room_that_is_opened_after_a_refusal_can_be_joined(two: Two, store: Store) -> None:
    one, _ = two
    client = one.client()
    with pytest.raises(NotFound):
        await client.join("counter/later")
    await store.put(Count(room_id="later"))
    await client.join("counter/later")
    assert client.snapshots == 1


async def test_everyone_who_names_the_missing_room_at_once_is_refused(process: RoomProcess) -> None:
    joins = (process.client(f"guest {number}").join("counter/missing") for number in range(30))
    outcomes = await asyncio.gather(*joins, return_exceptions=True)
    assert all(isinstance(outcome, NotFound) for outcome in outcomes)
    assert not process.rooms._handles


async def test_a_socket_with_too_many_topics_does_not_start_another_room(process: RoomProcess) -> None:
    client = process.client()
    for number in range(process.hub.limits.max_topics):
        process.hub.subscribe(client.socket, f"news/{number}")
    with pytest.raises(RateLimited):
        await client.join(ROOM)
    assert not process.rooms.owned()
    assert not process.rooms._handles


async def test_a_socket_that_ends_while_its_join_waits_is_no_member(process: RoomProcess) -> None:
    client = process.client()
    process.counters.snapshot_gate.clear()
    joining = asyncio.create_task(client.join())
    await process.counters.wait_until(lambda: process.counters.snapshots == 1)
    client.disconnect()
    process.counters.snapshot_gate.set()
    with pytest.raises(Exception, match="has ended"):
        await joining
    mirror = process.rooms._handles[ROOM]._mirror
    assert (mirror.members, mirror.accounts, process.hub._topics) == ({}, {}, {})
    assert guest().account_id not in mirror.accounts
