"""The actor of a live room: comments are numbered, stored, and then published; owners change."""

import asyncio

import msgspec
import pytest

from tests.live.room.room_commands import (
    MIDORI,
    ROOM_ID,
    SORA,
    close,
    command_of,
    event_summaries,
    execute_all,
    guest,
    open_live_room,
    post_comment,
    reply_summaries,
    snapshot_of,
    stored_comments,
)
from tests.support.concurrency import race
from tests.support.manual_clock import ManualClock
from tests.support.stores import START, temporary_store
from zataku.clock import instant_ms
from zataku.errors import InvalidRequest, RequestError
from zataku.live.design import TABLES, Room, room_now
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.limits import HostId, RoomId
from zataku.live.messages import CommentView
from zataku.live.moderation.writes import HostAction, delete_comment
from zataku.live.room import CATCH_UP_PAGE_SIZE, MAX_CAUGHT_UP_CHARACTERS, MAX_CONCURRENT_CATCH_UPS, LiveRoom
from zataku.live.rules.room_state import RECENT_COMMENTS, RoomState
from zataku.live.writes import close_room, create_room
from zataku.realtime.rooms.behaviour import LostRoom
from zataku.table import Store


async def test_comments_of_a_batch_are_stored_in_order_and_published_once(store: Store) -> None:
    live_room = await open_live_room(store)
    state = await live_room.acquire(ROOM_ID)
    outcome = await live_room.handle(
        state, [post_comment("一"), post_comment("二", nickname="そら"), post_comment("三")], START
    )
    assert reply_summaries(outcome) == event_summaries(outcome) == ["一", "二", "三"]
    stored = await stored_comments(store)
    assert [(it.content, it.nickname, it.seq) for it in stored] == [
        ("一", "Anonymous", "000010000001"),
        ("二", "そら", "000010000002"),
        ("三", "Anonymous", "000010000003"),
    ]
    assert {it.sender_id for it in stored} == {SORA.account_id}


async def test_no_message_names_the_sender_of_a_comment(strict: Store) -> None:
    live_room = await open_live_room(strict)
    outcome = await live_room.handle(await live_room.acquire(ROOM_ID), [post_comment("秘密")], START)
    wire = [event.body for event in outcome.events] + [msgspec.json.encode(it) for it in outcome.replies]
    wire.append(await live_room.snapshot(outcome.state, SORA, None))
    assert wire
    assert not [it for it in wire if SORA.account_id.encode() in it or MIDORI.account_id.encode() in it]


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"[]",
        b'{"k":"comment"}',
        b'{"k":"comment","content":""}',
        b'{"k":"comment","content":"a\\nb"}',
        b'{"k":"comment","content":"' + b"a" * 501 + b'"}',
        b'{"k":"comment","content":"a","nickname":"' + b"b" * 31 + b'"}',
        b'{"k":"comment","content":"a","sender":"me"}',
        b'{"k":"comment","content":"a","commentId":"x"}',
        b'{"k":"open"}',
        b"\xff",
    ],
)
async def test_bad_input_is_refused_before_it_reaches_the_room(embedded: Store, payload: bytes) -> None:
    live_room = await open_live_room(embedded)
    with pytest.raises(InvalidRequest):
        live_room.decode_command(payload)


async def test_a_comment_without_a_visible_character_is_refused_and_the_others_of_its_batch_are_stored(
    embedded: Store,
) -> None:
    live_room = await open_live_room(embedded)
    invisible = command_of(live_room.decode_command(b'{"k":"comment","content":"\\u200b"}'), SORA)
    outcome = await live_room.handle(
        await live_room.acquire(ROOM_ID), [post_comment("before"), invisible, post_comment("after")], START
    )
    assert reply_summaries(outcome) == ["before", "invalid", "after"]


async def test_an_owner_that_lost_the_room_stores_nothing_more(store: Store) -> None:
    live_room = await open_live_room(store)
    earlier = await live_room.acquire(ROOM_ID)
    later = await live_room.acquire(ROOM_ID)
    assert later.epoch == earlier.epoch + 1
    with pytest.raises(LostRoom):
        await live_room.handle(earlier, [post_comment("too late")], START)
    assert await stored_comments(store) == []


async def test_comments_of_a_new_owner_follow_those_of_the_old_one(strict: Store) -> None:
    live_room = await open_live_room(strict)
    first = await live_room.handle(await live_room.acquire(ROOM_ID), [post_comment("一"), post_comment("二")], START)
    state = await live_room.acquire(ROOM_ID)
    second = await live_room.handle(state, [post_comment("三")], START)
    assert [it.content for it in await stored_comments(strict)] == ["一", "二", "三"]
    assert [it.content for it in (await snapshot_of(live_room, second.state)).comments] == ["一", "二", "三"]
    assert second.state.epoch > first.state.epoch


async def test_a_retry_gets_the_stored_comment_and_stores_no_second_one(strict: Store) -> None:
    live_room = await open_live_room(strict)
    command = post_comment("一度だけ")
    await live_room.handle(await live_room.acquire(ROOM_ID), [command], START)
    retry = msgspec.structs.replace(command, is_retry=True)
    outcome = await live_room.handle(await live_room.acquire(ROOM_ID), [retry, post_comment("次")], START + 5)
    assert reply_summaries(outcome) == ["一度だけ", "次"]
    assert event_summaries(outcome) == ["次"]
    assert [it.content for it in await stored_comments(strict)] == ["一度だけ", "次"]


async def test_a_retry_does_not_bring_back_a_deleted_comment(strict: Store) -> None:
    live_room = await open_live_room(strict)
    command = post_comment("消して")
    outcome = await live_room.handle(await live_room.acquire(ROOM_ID), [command], START)
    reply = outcome.replies[0]
    assert isinstance(reply, CommentView)
    action = HostAction(
        room_id=ROOM_ID,
        host_id=HostId(MIDORI.account_id),
        at=instant_ms(START),
        log_id="0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11",
    )
    await strict.write(delete_comment(action, reply.comment_id, 1))
    outcome = await live_room.handle(
        await live_room.acquire(ROOM_ID), [msgspec.structs.replace(command, is_retry=True)], START + 5
    )
    assert reply_summaries(outcome) == ["deleted"]
    assert await stored_comments(strict) == []


async def test_comments_before_a_close_are_stored_and_later_ones_are_refused(store: Store) -> None:
    live_room = await open_live_room(store)
    outcome = await execute_all(
        live_room, await live_room.acquire(ROOM_ID), [post_comment("last words"), close(), post_comment("too late")]
    )
    assert reply_summaries(outcome) == ["last words", "CLOSED", "room_closed"]
    assert event_summaries(outcome) == ["last words", "closed"]
    assert outcome.closed
    room = await store.get(room_now(ROOM_ID))
    assert room is not None
    assert room.status == "CLOSED"


async def test_only_the_host_closes_a_room(strict: Store) -> None:
    live_room = await open_live_room(strict)
    outcome = await execute_all(live_room, await live_room.acquire(ROOM_ID), [close(SORA), post_comment("still open")])
    assert reply_summaries(outcome) == ["not_the_host", "still open"]
    assert not outcome.closed


async def test_an_owner_closes_a_room_that_was_closed_in_the_table(strict: Store) -> None:
    live_room = await open_live_room(strict)
    state = await live_room.acquire(ROOM_ID)
    await strict.write(close_room(ROOM_ID, HostId(MIDORI.account_id), START, 1))
    outcome = await live_room.handle(state, [post_comment("hello?")], START)
    assert (reply_summaries(outcome), event_summaries(outcome)) == (["room_closed"], ["closed"])
    assert outcome.closed is not None
    assert outcome.closed.code == "room_closed"


@pytest.mark.parametrize("room_id", ["nowhere", "0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11"])
async def test_an_unknown_room_cannot_be_acquired(strict: Store, room_id: str) -> None:
    live_room = await open_live_room(strict)
    with pytest.raises(RequestError) as refused:
        await live_room.acquire(room_id)
    assert refused.value.code == "no_such_room"


async def test_a_closed_room_cannot_be_acquired(strict: Store) -> None:
    live_room = await open_live_room(strict)
    state = await live_room.acquire(ROOM_ID)
    await strict.write(close_room(ROOM_ID, HostId(MIDORI.account_id), START, state.epoch))
    with pytest.raises(RequestError) as refused:
        await live_room.acquire(ROOM_ID)
    assert refused.value.code == "room_closed"


async def test_a_reader_that_resumes_gets_every_later_comment_once(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    state = await live_room.acquire(ROOM_ID)
    for batch in range(30):
        state = (
            await live_room.handle(state, [post_comment(f"{batch}-{at}", guest(at)) for at in range(10)], START + batch)
        ).state
    stored = await stored_comments(embedded)
    assert len(stored) == 300
    for missed_count in (1, 50, RECENT_COMMENTS, RECENT_COMMENTS + 1, 299):
        since = stored[-missed_count - 1].seq
        missed = await snapshot_of(live_room, state, since)
        assert [it.seq for it in missed.comments] == [it.seq for it in stored[-missed_count:]]
        assert not missed.more
    newcomer = await snapshot_of(live_room, state)
    assert [it.seq for it in newcomer.comments] == [it.seq for it in stored[-RECENT_COMMENTS:]]
    assert newcomer.earlier


async def filled_room(store: Store, content: str, count: int) -> tuple[LiveRoom, RoomState]:
    """A room with so many comments, each of somebody else."""
    live_room = await open_live_room(store)
    state = await live_room.acquire(ROOM_ID)
    for first in range(0, count, 10):
        comments = [post_comment(content, guest(at)) for at in range(first, first + 10)]
        state = (await live_room.handle(state, comments, START + first)).state
    return live_room, state


async def test_of_long_comments_fewer_come_with_a_snapshot_and_the_reader_fetches_the_rest(embedded: Store) -> None:
    live_room, state = await filled_room(embedded, "長" * 500, RECENT_COMMENTS + 90)
    stored = await stored_comments(embedded)
    missed = await snapshot_of(live_room, state, stored[0].seq)
    assert missed.more
    assert [it.seq for it in missed.comments] == [it.seq for it in stored[1 : CATCH_UP_PAGE_SIZE + 1]]
    assert sum(len(it.content) for it in missed.comments) < MAX_CAUGHT_UP_CHARACTERS + CATCH_UP_PAGE_SIZE * 500


async def test_a_crowd_that_resumes_from_different_places_reads_a_few_pages_at_a_time(
    embedded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_room, state = await filled_room(embedded, "x", RECENT_COMMENTS + 40)
    stored = await stored_comments(embedded)
    read, reading, most = GetRoomCommentsFunction.__call__, 0, 0

    async def count_reading(function: GetRoomCommentsFunction, room_id: RoomId, after: str, limit: int):
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        try:
            return await read(function, room_id, after, limit)
        finally:
            reading -= 1

    monkeypatch.setattr(GetRoomCommentsFunction, "__call__", count_reading)
    snapshots = await asyncio.gather(*(snapshot_of(live_room, state, it.seq) for it in stored[:30]))
    assert [it.comments[0].seq for it in snapshots] == [it.seq for it in stored[1:31]]
    assert most == MAX_CONCURRENT_CATCH_UPS


@pytest.mark.parametrize("since", ["", "x", "0000100000", "９99999999999", "-00010000001"])
async def test_a_malformed_seq_is_refused(embedded: Store, since: str) -> None:
    live_room = await open_live_room(embedded)
    with pytest.raises(RequestError):
        await live_room.snapshot(await live_room.acquire(ROOM_ID), SORA, since)


async def test_on_a_store_that_loses_replies_every_acknowledged_comment_is_stored_once_in_order(
    tmp_path, clock: ManualClock
) -> None:
    async with temporary_store("lossy", tmp_path, TABLES, clock) as lossy:
        now = instant_ms(START)
        room = Room(room_id=ROOM_ID, name="x", host_id=HostId("h"), status="OPEN", created_at=now, updated_at=now)
        while await lossy.get(room_now(ROOM_ID)) is None:
            await race(lossy.write(create_room(room)))
        live_room = LiveRoom(lossy)
        state = await live_room.acquire(ROOM_ID)
        replies: list[str] = []
        for batch in range(40):
            try:
                outcome = await live_room.handle(
                    state, [post_comment(f"{batch}a"), post_comment(f"{batch}b")], START + 2 * batch
                )
            except (LostRoom, RequestError):
                state = await live_room.acquire(ROOM_ID)
                continue
            state = outcome.state
            replies += reply_summaries(outcome)
        contents = [it.content for it in await stored_comments(lossy)]
        assert len(contents) == len(set(contents))
        assert [it for it in contents if it in set(replies)] == replies
        assert len(replies) > 40
