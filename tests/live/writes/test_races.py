"""Invariants of concurrent writes to a room, on stores that throttle, conflict and lose replies."""

import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from tests.live.entities import HALL, MIDORI, NOW, SORA, WEB, act, all_of, opened_room, owned, room, said, socket, taken
from tests.support.concurrency import race
from tests.support.store_reads import eventually
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.design import OwnedConnection, comments_after, connection, room_now, seq_of
from zataku.live.limits import SEQ_START, SenderId
from zataku.live.moderation.design import Block, LogEntry, Mark, Upvotes, blocks_of, upvoters_of, upvotes_on
from zataku.live.moderation.writes import (
    HostAction,
    block_word,
    delete_comment,
    mark_comment,
    pause_room,
    slow_room,
    unblock_word,
    unmark_comment,
)
from zataku.live.writes import (
    close_room,
    create_room,
    join,
    post_comments,
    remove_own_comment,
    sweep_connection,
    take_room,
    upvote,
    upvote_first,
)
from zataku.table import Plan, Store, TransactionCancelled

TARGET = said(1).comment_id


async def numbers(store: Store) -> list[str]:
    return [found.seq async for found in store.each(comments_after(HALL, SEQ_START))]


@pytest.mark.parametrize("ending", ["closed", "paused"])
async def test_closing_or_pausing_a_room_against_comments_in_flight(contested: Store, ending: str) -> None:
    epoch = await opened_room(contested)
    acknowledged, refused = list[int](), list[int]()

    async def speak() -> None:
        for number in range(1, 31):
            try:
                await contested.write(post_comments([said(number, epoch=epoch)], epoch), token=f"tick-{number}")
            except TransactionCancelled:
                refused.append(number)
            else:
                acknowledged.append(number)

    async def end() -> list[str]:
        while len(acknowledged) < 5:
            await asyncio.sleep(0)
        if ending == "closed":
            await closed(contested)
        else:
            await contested.write(pause_room(act(1), epoch, True), token="pause")
        return await numbers(contested)

    _, at_the_end = await asyncio.gather(speak(), end())
    assert await numbers(contested) == at_the_end == [seq_of(epoch, number) for number in acknowledged]
    assert acknowledged + refused == list(range(1, 31))
    assert refused


async def closed(store: Store) -> None:
    """Close the room as its host through the current owner, and retry until that succeeds."""
    while True:
        found = await store.get(room_now(HALL))
        assert found is not None
        if found.status == "CLOSED":
            return
        await race(store.write(close_room(HALL, MIDORI, START, found.epoch or 1)))


async def test_a_room_that_is_closed_has_no_new_owner(contested: Store) -> None:
    await opened_room(contested)
    takes, _ = await asyncio.gather(race(*(contested.write(take_room(HALL)) for _ in range(6))), closed(contested))
    over = await contested.get(room_now(HALL))
    assert over is not None
    assert all(found.epoch <= over.epoch for found in takes.won)
    assert len(takes.won) <= over.epoch - 1 <= len(takes.won) + len(takes.unknown)
    late = await race(contested.write(take_room(HALL)))
    assert late.won == []
    assert (await contested.get(room_now(HALL))).epoch == over.epoch


async def test_a_new_owner_knows_all_moderation_through_the_old_one(contested: Store) -> None:
    old = await opened_room(contested)
    acts = [contested.write(block_word(act(n), old, f"spam{n}"), token=f"b{n}") for n in range(1, 6)]
    acts += [contested.write(slow_room(act(n), old, n), token=f"s{n}") for n in range(11, 16)]

    async def take() -> tuple[int | None, list[Block]]:
        mine = await taken(contested)
        return mine.slow_mode_seconds, await all_of(contested, blocks_of(HALL))

    _, (slow, blocks) = await asyncio.gather(race(*acts), take())
    assert (await contested.get(room_now(HALL))).slow_mode_seconds == slow
    assert await all_of(contested, blocks_of(HALL)) == blocks
    late = await race(contested.write(block_word(act(20), old, "eggs")), contested.write(slow_room(act(21), old, 60)))
    assert late.won == []


async def test_every_process_that_acquires_a_room_gets_another_epoch(contested: Store) -> None:
    await opened_room(contested)
    taken = await race(*(contested.write(take_room(HALL)) for _ in range(10)))
    epochs = [found.epoch for found in taken.won if found is not None]
    assert len(set(epochs)) == len(epochs) == len(taken.won)
    assert taken.refused == []
    now = await contested.get(room_now(HALL))
    assert now is not None
    assert max(epochs) <= (now.epoch or 0)
    last = await owned(contested)
    ticks = {epoch: post_comments([said(1, salt=epoch, epoch=epoch)], epoch) for epoch in range(1, last + 1)}
    posts = [contested.write(tick, token=f"t{epoch}") for epoch, tick in ticks.items()]
    heard = await race(*posts)
    assert len(heard.won) == 1
    assert [one.comment_id for one in await all_of(contested, comments_after(HALL, SEQ_START))] == [
        said(1, salt=last).comment_id
    ]


async def test_many_concurrent_closes_close_a_room_once(contested: Store) -> None:
    await opened_room(contested)
    closing = await race(*(contested.write(close_room(HALL, MIDORI, START + n, 1)) for n in range(1, 9)))
    assert closing.allows(1)
    found = await contested.get(room_now(HALL))
    assert found is not None
    assert found.status == "CLOSED"
    if closing.won:
        assert closing.won == [found]


async def test_one_id_makes_one_room(contested: Store) -> None:
    rooms = [room(name=f"発表会 {number}") for number in range(8)]
    made = await race(*(contested.write(create_room(one)) for one in rooms))
    assert made.allows(1)
    found = await contested.get(room_now(HALL))
    assert found in rooms
    if made.won:
        assert made.won == [found]


async def test_no_connection_joins_a_room_after_it_closed(contested: Store) -> None:
    await opened_room(contested)

    async def join_two(number: int) -> int:
        pair = [socket(number), socket(100 + number)]
        await contested.write(join(HALL, WEB, pair, START), token=f"join-{number}")
        return number

    joined, _ = await asyncio.gather(race(*map(join_two, range(12))), closed(contested))
    for number in range(12):
        for one in (socket(number), socket(100 + number)):
            assert (await contested.get(connection(one), strong=True) is not None) == (number in joined.won)
    late = await race(join_two(99))
    assert len(late.refused) == 1


async def test_a_client_that_joins_again_is_not_swept_with_old_connections(contested: Store) -> None:
    await opened_room(contested)
    await contested.write(join(HALL, WEB, [socket(1)], START), token="before")
    left = OwnedConnection(connection_id=socket(1), timestamp=NOW)
    await asyncio.gather(
        race(*(contested.write(sweep_connection(WEB, left)) for _ in range(4))),
        contested.write(join(HALL, WEB, [socket(1)], START + 1), token="again"),
    )
    await race(contested.write(sweep_connection(WEB, left)))
    there = await contested.get(connection(socket(1)), strong=True)
    assert there is not None
    assert there.timestamp == instant_ms(START + 1)


async def vote(store: Store, sender: SenderId, ballot: int) -> bool:
    """Upvote as a caller does: as the first, and when there are upvotes already, as a later one."""
    for voting in (upvote_first, upvote):
        try:
            plan = voting(HALL, TARGET, [sender], START, 1)
            await store.write(plan, token=f"ballot-{ballot}-{voting.__name__}")
        except TransactionCancelled as cancelled:
            if cancelled.reasons[0].code == "condition_failed":
                return False
            continue
        return True
    return False


@pytest.mark.parametrize("ending", ["deleted", "closed"])
async def test_upvotes_against_the_end_of_their_comment_or_room(contested: Store, ending: str) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1, epoch=epoch)], epoch), token="said")
    counted = list[bool]()

    async def crowd(first: int) -> None:
        for number in range(first, 18, 3):
            counted.append(await vote(contested, SenderId(f"guest:{number}"), number))

    async def end() -> Upvotes | None:
        while counted.count(True) < 2:
            await asyncio.sleep(0)
        if ending == "closed":
            await closed(contested)
        else:
            await contested.write(delete_comment(act(1), TARGET, 1), token="d")
        return await contested.get(upvotes_on(HALL, TARGET), strong=True)

    at_the_end, *_ = await asyncio.gather(end(), *map(crowd, range(3)))
    total = await contested.get(upvotes_on(HALL, TARGET), strong=True)
    assert total == at_the_end
    assert (total.votes if total else 0) == (counted.count(True) if ending == "closed" else 0)
    assert not await vote(contested, SORA, 99)


async def test_a_session_upvotes_once_and_the_count_is_the_number_of_upvotes(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1, epoch=epoch)], epoch), token="said")
    people = [SenderId(f"guest:{number}") for number in range(6)]
    counted = await asyncio.gather(*(vote(contested, person, at) for at, person in enumerate(people * 3)))
    total = await contested.get(upvotes_on(HALL, TARGET), strong=True)
    assert total is not None
    assert counted.count(True) == total.votes == len(people)
    await eventually(lambda: voters(contested), people)


async def voters(store: Store) -> list[str]:
    return [found.sender_id for found in await all_of(store, upvoters_of(HALL, TARGET))]


async def test_a_comment_is_removed_by_its_sender_or_the_host_once(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1, epoch=epoch)], epoch), token="said")
    ends = [contested.write(delete_comment(act(n), TARGET, 1), token=f"d{n}") for n in range(1, 5)]
    ends += [contested.write(remove_own_comment(HALL, TARGET, SORA, START + n, 1), token=f"r{n}") for n in range(1, 5)]
    ended = await race(*ends)
    assert len(ended.won) == 1
    assert await numbers(contested) == []


DEEDS: dict[str, Callable[[HostAction, int], Plan]] = {
    "PIN": lambda deed, _: mark_comment(deed, "PINNED", TARGET, 1),
    "UNPIN": lambda deed, _: unmark_comment(deed, "PINNED", TARGET, 1),
    "BLOCK_WORD": lambda deed, epoch: block_word(deed, epoch, "spam"),
    "UNBLOCK_WORD": lambda deed, epoch: unblock_word(deed, epoch, "spam"),
    "PAUSE": lambda deed, epoch: pause_room(deed, epoch, True),
    "RESUME": lambda deed, epoch: pause_room(deed, epoch, False),
    "SLOW": lambda deed, epoch: slow_room(deed, epoch, 9),
    "HURRY": lambda deed, epoch: slow_room(deed, epoch, None),
}


async def test_a_moderation_action_takes_effect_once_and_is_logged_once(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1, epoch=epoch)], epoch), token="said")
    for first, (action, planned) in zip(count(1, 4), DEEDS.items(), strict=False):
        deeds = [act(n) for n in range(first, first + 4)]
        done = await race(*(contested.write(planned(deed, epoch), token=f"{action}{deed.at}") for deed in deeds))
        assert (action, len(done.won)) == (action, 1)
        keys = [LogEntry.key(room_id=HALL, at=deed.at, log_id=deed.log_id) for deed in deeds]
        logged = [entry.action for entry in await contested.get_many(keys, strong=True) if entry is not None]
        assert logged == [action]


async def test_a_deleted_comment_has_no_marks_and_gets_none(contested: Store) -> None:
    epoch = await opened_room(contested)
    await contested.write(post_comments([said(1, epoch=epoch)], epoch), token="said")
    await contested.write(mark_comment(act(1), "ANSWERED", TARGET, 1), token="a")
    await race(
        contested.write(mark_comment(act(2), "PINNED", TARGET, 1), token="p"),
        contested.write(delete_comment(act(3), TARGET, 1), token="d"),
        contested.write(mark_comment(act(4), "HIDDEN", TARGET, 1), token="h"),
    )
    marks = [Mark.key(room_id=HALL, mark=mark, comment_id=TARGET) for mark in ("PINNED", "HIDDEN", "ANSWERED")]
    assert await contested.get_many(marks, strong=True) == [None] * 3
    late = await race(contested.write(mark_comment(act(5), "HIDDEN", TARGET, 1), token="late"))
    assert [type(one) for one in late.refused] == [TransactionCancelled]
