"""Invariants of concurrent writes to a room, on stores that throttle, conflict and lose replies."""

import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from tests.live.entities import (
    MIDORI,
    NOW,
    ROOM_ID,
    SORA,
    WEB,
    acquire_epoch,
    acquire_room,
    comment,
    host_action,
    open_room,
    read_all,
    room,
    socket,
)
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

TARGET = comment(1).comment_id


async def stored_seqs(store: Store) -> list[str]:
    return [it.seq async for it in store.each(comments_after(ROOM_ID, SEQ_START))]


@pytest.mark.parametrize("ending", ["closed", "paused"])
async def test_comments_that_race_with_a_close_or_a_pause_are_stored_before_it_or_refused(
    contested: Store, ending: str
) -> None:
    epoch = await open_room(contested)
    acknowledged, refused = list[int](), list[int]()

    async def post() -> None:
        for number in range(1, 31):
            try:
                await contested.write(post_comments([comment(number, epoch=epoch)], epoch), token=f"batch-{number}")
            except TransactionCancelled:
                refused.append(number)
            else:
                acknowledged.append(number)

    async def end() -> list[str]:
        while len(acknowledged) < 5:
            await asyncio.sleep(0)
        if ending == "closed":
            await close_with_retries(contested)
        else:
            await contested.write(pause_room(host_action(1), epoch, True), token="pause")
        return await stored_seqs(contested)

    _, at_the_end = await asyncio.gather(post(), end())
    assert await stored_seqs(contested) == at_the_end == [seq_of(epoch, number) for number in acknowledged]
    assert acknowledged + refused == list(range(1, 31))
    assert refused


async def close_with_retries(store: Store) -> None:
    """Close the room as its host through the current owner, and retry until that succeeds."""
    while True:
        stored_room = await store.get(room_now(ROOM_ID))
        assert stored_room is not None
        if stored_room.status == "CLOSED":
            return
        await race(store.write(close_room(ROOM_ID, MIDORI, START, stored_room.epoch or 1)))


async def test_a_closed_room_gets_no_new_owner(contested: Store) -> None:
    await open_room(contested)
    takes, _ = await asyncio.gather(
        race(*(contested.write(take_room(ROOM_ID)) for _ in range(6))), close_with_retries(contested)
    )
    stored_room = await contested.get(room_now(ROOM_ID))
    assert stored_room is not None
    assert all(it.epoch <= stored_room.epoch for it in takes.won)
    assert len(takes.won) <= stored_room.epoch - 1 <= len(takes.won) + len(takes.unknown)
    late = await race(contested.write(take_room(ROOM_ID)))
    assert late.won == []
    assert (await contested.get(room_now(ROOM_ID))).epoch == stored_room.epoch


async def test_a_new_owner_reads_all_moderation_of_the_old_one(contested: Store) -> None:
    old = await open_room(contested)
    actions = [contested.write(block_word(host_action(n), old, f"spam{n}"), token=f"b{n}") for n in range(1, 6)]
    actions += [contested.write(slow_room(host_action(n), old, n), token=f"s{n}") for n in range(11, 16)]

    async def take() -> tuple[int | None, list[Block]]:
        acquired = await acquire_room(contested)
        return acquired.slow_mode_seconds, await read_all(contested, blocks_of(ROOM_ID))

    _, (slow, blocks) = await asyncio.gather(race(*actions), take())
    assert (await contested.get(room_now(ROOM_ID))).slow_mode_seconds == slow
    assert await read_all(contested, blocks_of(ROOM_ID)) == blocks
    late = await race(
        contested.write(block_word(host_action(20), old, "eggs")), contested.write(slow_room(host_action(21), old, 60))
    )
    assert late.won == []


async def test_every_process_that_acquires_a_room_gets_another_epoch(contested: Store) -> None:
    await open_room(contested)
    takes = await race(*(contested.write(take_room(ROOM_ID)) for _ in range(10)))
    epochs = [it.epoch for it in takes.won if it is not None]
    assert len(set(epochs)) == len(epochs) == len(takes.won)
    assert takes.refused == []
    stored_room = await contested.get(room_now(ROOM_ID))
    assert stored_room is not None
    assert max(epochs) <= (stored_room.epoch or 0)
    last = await acquire_epoch(contested)
    batches = {epoch: post_comments([comment(1, salt=epoch, epoch=epoch)], epoch) for epoch in range(1, last + 1)}
    posts = await race(*(contested.write(batch, token=f"t{epoch}") for epoch, batch in batches.items()))
    assert len(posts.won) == 1
    assert [it.comment_id for it in await read_all(contested, comments_after(ROOM_ID, SEQ_START))] == [
        comment(1, salt=last).comment_id
    ]


async def test_many_concurrent_closes_close_a_room_once(contested: Store) -> None:
    await open_room(contested)
    closing = await race(*(contested.write(close_room(ROOM_ID, MIDORI, START + n, 1)) for n in range(1, 9)))
    assert closing.allows(1)
    stored_room = await contested.get(room_now(ROOM_ID))
    assert stored_room is not None
    assert stored_room.status == "CLOSED"
    if closing.won:
        assert closing.won == [stored_room]


async def test_concurrent_creations_with_one_id_create_one_room(contested: Store) -> None:
    rooms = [room(name=f"発表会 {number}") for number in range(8)]
    creations = await race(*(contested.write(create_room(it)) for it in rooms))
    assert creations.allows(1)
    stored_room = await contested.get(room_now(ROOM_ID))
    assert stored_room in rooms
    if creations.won:
        assert creations.won == [stored_room]


async def test_no_connection_joins_a_room_after_it_closed(contested: Store) -> None:
    await open_room(contested)

    async def join_two(number: int) -> int:
        pair = [socket(number), socket(100 + number)]
        await contested.write(join(ROOM_ID, WEB, pair, START), token=f"join-{number}")
        return number

    joined, _ = await asyncio.gather(race(*map(join_two, range(12))), close_with_retries(contested))
    for number in range(12):
        for connection_id in (socket(number), socket(100 + number)):
            assert (await contested.get(connection(connection_id), strong=True) is not None) == (number in joined.won)
    late = await race(join_two(99))
    assert len(late.refused) == 1


async def test_a_client_that_joins_again_is_not_swept_with_old_connections(contested: Store) -> None:
    await open_room(contested)
    await contested.write(join(ROOM_ID, WEB, [socket(1)], START), token="before")
    orphan = OwnedConnection(connection_id=socket(1), timestamp=NOW)
    await asyncio.gather(
        race(*(contested.write(sweep_connection(WEB, orphan)) for _ in range(4))),
        contested.write(join(ROOM_ID, WEB, [socket(1)], START + 1), token="again"),
    )
    await race(contested.write(sweep_connection(WEB, orphan)))
    stored = await contested.get(connection(socket(1)), strong=True)
    assert stored is not None
    assert stored.timestamp == instant_ms(START + 1)


async def vote(store: Store, sender: SenderId, number: int) -> bool:
    """Upvote as a caller does: with the write for the first upvote, then with the one for later upvotes."""
    for upvote_plan in (upvote_first, upvote):
        try:
            plan = upvote_plan(ROOM_ID, TARGET, [sender], START, 1)
            await store.write(plan, token=f"vote-{number}-{upvote_plan.__name__}")
        except TransactionCancelled as cancelled:
            if cancelled.reasons[0].code == "condition_failed":
                return False
            continue
        return True
    return False


@pytest.mark.parametrize("ending", ["deleted", "closed"])
async def test_upvotes_that_race_with_the_deletion_of_their_comment_or_the_close_of_their_room(
    contested: Store, ending: str
) -> None:
    epoch = await open_room(contested)
    await contested.write(post_comments([comment(1, epoch=epoch)], epoch), token="comment")
    counted = list[bool]()

    async def crowd(first: int) -> None:
        for number in range(first, 18, 3):
            counted.append(await vote(contested, SenderId(f"guest:{number}"), number))

    async def end() -> Upvotes | None:
        while counted.count(True) < 2:
            await asyncio.sleep(0)
        if ending == "closed":
            await close_with_retries(contested)
        else:
            await contested.write(delete_comment(host_action(1), TARGET, 1), token="d")
        return await contested.get(upvotes_on(ROOM_ID, TARGET), strong=True)

    at_the_end, *_ = await asyncio.gather(end(), *map(crowd, range(3)))
    total = await contested.get(upvotes_on(ROOM_ID, TARGET), strong=True)
    assert total == at_the_end
    assert (total.votes if total else 0) == (counted.count(True) if ending == "closed" else 0)
    assert not await vote(contested, SORA, 99)


async def test_a_session_upvotes_once_and_the_count_is_the_number_of_upvotes(contested: Store) -> None:
    epoch = await open_room(contested)
    await contested.write(post_comments([comment(1, epoch=epoch)], epoch), token="comment")
    senders = [SenderId(f"guest:{number}") for number in range(6)]
    counted = await asyncio.gather(*(vote(contested, sender, at) for at, sender in enumerate(senders * 3)))
    total = await contested.get(upvotes_on(ROOM_ID, TARGET), strong=True)
    assert total is not None
    assert counted.count(True) == total.votes == len(senders)
    await eventually(lambda: voters(contested), senders)


async def voters(store: Store) -> list[str]:
    return [it.sender_id for it in await read_all(store, upvoters_of(ROOM_ID, TARGET))]


async def test_a_comment_is_removed_by_its_sender_or_the_host_once(contested: Store) -> None:
    epoch = await open_room(contested)
    await contested.write(post_comments([comment(1, epoch=epoch)], epoch), token="comment")
    removals = [contested.write(delete_comment(host_action(n), TARGET, 1), token=f"d{n}") for n in range(1, 5)]
    removals += [
        contested.write(remove_own_comment(ROOM_ID, TARGET, SORA, START + n, 1), token=f"r{n}") for n in range(1, 5)
    ]
    raced = await race(*removals)
    assert len(raced.won) == 1
    assert await stored_seqs(contested) == []


HOST_ACTIONS: dict[str, Callable[[HostAction, int], Plan]] = {
    "PIN": lambda action, _: mark_comment(action, "PINNED", TARGET, 1),
    "UNPIN": lambda action, _: unmark_comment(action, "PINNED", TARGET, 1),
    "BLOCK_WORD": lambda action, epoch: block_word(action, epoch, "spam"),
    "UNBLOCK_WORD": lambda action, epoch: unblock_word(action, epoch, "spam"),
    "PAUSE": lambda action, epoch: pause_room(action, epoch, True),
    "RESUME": lambda action, epoch: pause_room(action, epoch, False),
    "SLOW": lambda action, epoch: slow_room(action, epoch, 9),
    "HURRY": lambda action, epoch: slow_room(action, epoch, None),
}


async def test_a_moderation_action_takes_effect_once_and_is_logged_once(contested: Store) -> None:
    epoch = await open_room(contested)
    await contested.write(post_comments([comment(1, epoch=epoch)], epoch), token="comment")
    for first, (name, plan_of) in zip(count(1, 4), HOST_ACTIONS.items(), strict=False):
        actions = [host_action(n) for n in range(first, first + 4)]
        done = await race(*(contested.write(plan_of(it, epoch), token=f"{name}{it.at}") for it in actions))
        assert (name, len(done.won)) == (name, 1)
        keys = [LogEntry.key(room_id=ROOM_ID, at=it.at, log_id=it.log_id) for it in actions]
        logged = [entry.action for entry in await contested.get_many(keys, strong=True) if entry is not None]
        assert logged == [name]


async def test_a_deleted_comment_has_no_marks_and_gets_none(contested: Store) -> None:
    epoch = await open_room(contested)
    await contested.write(post_comments([comment(1, epoch=epoch)], epoch), token="comment")
    await contested.write(mark_comment(host_action(1), "ANSWERED", TARGET, 1), token="a")
    await race(
        contested.write(mark_comment(host_action(2), "PINNED", TARGET, 1), token="p"),
        contested.write(delete_comment(host_action(3), TARGET, 1), token="d"),
        contested.write(mark_comment(host_action(4), "HIDDEN", TARGET, 1), token="h"),
    )
    marks = [Mark.key(room_id=ROOM_ID, mark=mark, comment_id=TARGET) for mark in ("PINNED", "HIDDEN", "ANSWERED")]
    assert await contested.get_many(marks, strong=True) == [None] * 3
    late = await race(contested.write(mark_comment(host_action(5), "HIDDEN", TARGET, 1), token="late"))
    assert [type(it) for it in late.refused] == [TransactionCancelled]
