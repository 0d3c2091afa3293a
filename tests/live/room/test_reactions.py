"""Reactions in a running room: published together, stored by the minute, limited by sender."""

import msgspec

from tests.live.room.room_commands import (
    MIDORI,
    ROOM_ID,
    SORA,
    close,
    command_of,
    execute_all,
    guest,
    open_live_room,
    post_comment,
)
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.messages import BlockSender, React, Snapshot
from zataku.live.moderation.design import reactions_in
from zataku.live.room import LiveRoom
from zataku.live.rules.room_state import RoomState
from zataku.platform.identity import Identity
from zataku.table import Store


def react(live_room: LiveRoom, state: RoomState, sender: Identity, kind: str = "clap", now: float = START) -> RoomState:
    """The state after a reaction, unchanged when the room does not accept it."""
    command = command_of(React(reaction=kind), sender)  # pyright: ignore[reportArgumentType]
    return live_room.handle_transient(state, command, now).state if live_room.accepts(command, now) else state


async def minutes(store: Store) -> list[tuple[str, int, int, int]]:
    return [(it.minute, it.clap, it.aha, it.lol) async for it in store.each(reactions_in(ROOM_ID))]


async def totals(live_room: LiveRoom, state: RoomState) -> tuple[int, int, int]:
    published = live_room.tick(state, START).state
    reactions = msgspec.json.decode(await live_room.snapshot(published, SORA, None), type=Snapshot).standing.reactions
    return reactions.clap, reactions.aha, reactions.lol


async def test_reactions_are_published_together_and_once(strict: Store) -> None:
    live_room = await open_live_room(strict)
    state = await live_room.acquire(ROOM_ID)
    for number in range(30):
        state = react(live_room, state, guest(number), "clap" if number % 3 else "lol")
    first = live_room.tick(state, START)
    assert [msgspec.json.decode(it.body) for it in first.events] == [{"k": "reacted", "clap": 20, "lol": 10}]
    assert live_room.tick(first.state, START).events == ()
    assert live_room.tick(first.state, START).state is first.state


async def test_one_sender_counts_five_times_a_second(strict: Store) -> None:
    live_room = await open_live_room(strict)
    state = await live_room.acquire(ROOM_ID)
    for seconds in (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 1.0, 1.1):
        state = react(live_room, state, SORA, now=START + seconds)
    state = react(live_room, state, MIDORI, now=START + 1.1)
    assert await totals(live_room, state) == (8, 0, 0)


async def test_counts_are_stored_by_the_minute_and_continued_by_a_new_owner(store: Store) -> None:
    live_room = await open_live_room(store)
    state = await live_room.acquire(ROOM_ID)
    state = react(live_room, state, SORA, now=START + 59)
    state = react(live_room, state, SORA, "aha", now=START + 61)
    state = await live_room.flush(state)
    assert await minutes(store) == [(instant_ms(START), 1, 0, 0), (instant_ms(START + 60), 0, 1, 0)]
    state = await live_room.acquire(ROOM_ID)
    assert await totals(live_room, state) == (1, 1, 0)
    state = await live_room.flush(react(live_room, state, MIDORI, "aha", now=START + 62))
    assert await minutes(store) == [(instant_ms(START), 1, 0, 0), (instant_ms(START + 60), 0, 2, 0)]
    assert await totals(live_room, state) == (1, 2, 0)


async def test_reactions_before_a_close_are_stored(strict: Store) -> None:
    live_room = await open_live_room(strict)
    state = react(live_room, await live_room.acquire(ROOM_ID), SORA)
    outcome = await execute_all(live_room, state, [close()])
    assert outcome.closed
    assert await minutes(strict) == [(instant_ms(START), 1, 0, 0)]


async def test_reactions_of_a_blocked_sender_do_not_count(strict: Store) -> None:
    live_room = await open_live_room(strict)
    outcome = await execute_all(live_room, await live_room.acquire(ROOM_ID), [post_comment("x")])
    comment_id = outcome.replies[0].comment_id
    state = (await execute_all(live_room, outcome.state, [command_of(BlockSender(comment_id=comment_id))])).state
    assert react(live_room, state, SORA) is state
    assert react(live_room, state, MIDORI) is not state
