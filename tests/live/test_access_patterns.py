"""Every access pattern of the design, and every write with its conditions."""

from collections.abc import Callable
from random import Random

import pytest
from msgspec.structs import replace

from tests.live.entities import (
    HARU,
    MIDORI,
    NOW,
    OTHER_ROOM_ID,
    ROOM_ID,
    SORA,
    WEB,
    YUNA,
    acquire_epoch,
    assert_refused,
    comment,
    host_action,
    open_room,
    read_all,
    room,
    socket,
)
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import eventually
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.design import (
    Connection,
    OwnedConnection,
    comments_after,
    comments_of,
    connection,
    connections_in,
    latest_comments,
    left_behind,
    newest_rooms_of,
    room_now,
    seq_of,
)
from zataku.live.design import comment as comment_by_id
from zataku.live.design import room as room_by_id
from zataku.live.errors import InvalidBatch
from zataku.live.limits import SEQ_START, ProcessName, SenderId
from zataku.live.moderation.design import Mark, marked
from zataku.live.moderation.writes import pause_room
from zataku.live.samples import rooms_of
from zataku.live.writes import (
    close_room,
    create_room,
    join,
    leave,
    post_comments,
    remove_own_comment,
    sweep_connection,
    take_room,
    upvote,
    upvote_first,
)
from zataku.table import Plan, Query, Store

# Rooms


async def test_a_room_is_read_by_its_id(store: Store) -> None:
    await store.write(create_room(room()))
    await eventually(lambda: store.get(room_by_id(ROOM_ID)), room())
    assert await store.get(room_now(ROOM_ID)) == room()
    assert await store.get(room_now(OTHER_ROOM_ID)) is None


async def test_a_room_id_in_use_creates_no_second_room(store: Store) -> None:
    await store.write(create_room(room()))
    await assert_refused(store, create_room(room(host_id=HARU)))
    assert await store.get(room_now(ROOM_ID)) == room()


def test_a_room_cannot_be_created_closed() -> None:
    with pytest.raises(ValueError, match="new room is open"):
        create_room(room(status="CLOSED"))


@pytest.mark.parametrize("fields", [{"epoch": 3}, {"paused": True}, {"slow_mode_seconds": 5}])
def test_a_new_room_with_an_owner_or_other_settings_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="new room has no"):
        create_room(room(**fields))


async def test_the_rooms_of_a_host_are_read_newest_first(store: Store) -> None:
    own_rooms = list(rooms_of(Random(1), START, 5))
    await store.write_many(put=[*own_rooms, *rooms_of(Random(2), START, 2, HARU)])
    await eventually(lambda: read_all(store, newest_rooms_of(MIDORI)), own_rooms[::-1])


async def test_only_the_host_closes_a_room_and_it_stays_closed(store: Store) -> None:
    epoch = await open_room(store)
    await assert_refused(store, close_room(ROOM_ID, HARU, START + 5, 1))
    closed = await store.write(close_room(ROOM_ID, MIDORI, START + 5, 1))
    assert closed == room(status="CLOSED", updated_at=instant_ms(START + 5), epoch=epoch)
    await assert_refused(store, close_room(ROOM_ID, MIDORI, START + 9, 1))
    await assert_refused(store, create_room(room()))
    await assert_refused(store, take_room(ROOM_ID))
    assert await store.get(room_now(ROOM_ID)) == closed


async def test_an_unknown_room_cannot_be_closed_or_acquired(store: Store) -> None:
    await assert_refused(store, close_room(ROOM_ID, MIDORI, START, 1))
    await assert_refused(store, take_room(ROOM_ID))
    assert await store.get(room_now(ROOM_ID)) is None


async def test_each_owner_of_a_room_has_an_epoch_of_its_own(store: Store) -> None:
    assert [await open_room(store), await acquire_epoch(store), await acquire_epoch(store)] == [1, 2, 3]


async def test_a_room_of_the_last_epoch_cannot_be_acquired_and_stays_readable(store: Store) -> None:
    await store.put(room(epoch=99_998))
    assert await acquire_epoch(store) == 99_999
    await assert_refused(store, take_room(ROOM_ID))
    assert await store.get(room_now(ROOM_ID)) == room(epoch=99_999)


# Comments


async def test_the_comments_of_a_room_are_read_without_those_of_others(store: Store) -> None:
    posted = [comment(number) for number in range(1, 31)]
    epoch = await open_room(store)
    await store.write(post_comments(posted, epoch))
    other = await open_room(store, room(OTHER_ROOM_ID))
    await store.write(post_comments([comment(1, room_id=OTHER_ROOM_ID, salt=1)], other))
    by_id = sorted(posted, key=lambda it: it.comment_id)
    await eventually(lambda: read_all(store, comments_of(ROOM_ID)), by_id)
    await eventually(lambda: store.get(comment_by_id(ROOM_ID, posted[3].comment_id)), posted[3])


async def test_a_reader_who_resumes_after_any_number_gets_every_later_comment(store: Store) -> None:
    epoch = await open_room(store)
    posted = [comment(number) for number in range(1, 121)]
    for start in range(0, 120, 30):
        await store.write(post_comments(posted[start : start + 30], epoch))
    for seen in (1, 9, 10, 99, 119, 120):
        assert await read_all(store, comments_after(ROOM_ID, seq_of(epoch, seen))) == posted[seen:]
    assert await read_all(store, comments_after(ROOM_ID, SEQ_START)) == posted


async def test_a_new_owner_numbers_from_one_and_its_comments_follow_all_earlier_ones(store: Store) -> None:
    epoch = await open_room(store)
    before = [comment(number) for number in range(1, 13)]
    await store.write(post_comments(before, epoch))
    assert await acquire_epoch(store) == epoch + 1
    after = [comment(number, salt=1, epoch=epoch + 1) for number in (1, 2)]
    await store.write(post_comments(after, epoch + 1))
    assert await read_all(store, comments_after(ROOM_ID, SEQ_START)) == [*before, *after]
    assert await read_all(store, comments_after(ROOM_ID, before[-1].seq)) == after


async def test_the_latest_comments_are_read_first(store: Store) -> None:
    epoch = await open_room(store)
    await store.write(post_comments([comment(number) for number in range(1, 13)], epoch))
    await eventually(
        lambda: read_all(store, latest_comments(ROOM_ID)), [comment(number) for number in range(12, 0, -1)]
    )


async def test_a_batch_of_99_comments_is_written_at_once(store: Store) -> None:
    epoch = await open_room(store)
    await store.write(post_comments([comment(number) for number in range(1, 100)], epoch))
    assert len(await read_all(store, comments_after(ROOM_ID, SEQ_START))) == 99


@pytest.mark.parametrize(
    "posted",
    [
        [],
        [comment(number) for number in range(1, 101)],
        [comment(1), comment(3)],
        [comment(2), comment(1)],
        [comment(1), comment(1, salt=1)],
        [replace(comment(1), seq="000010000000")],
        [replace(comment(1), seq=None)],
        [comment(1, epoch=2)],
        [comment(1), comment(2, epoch=2)],
        [comment(9_999_999), replace(comment(1), seq="000020000000")],
        [comment(1), comment(2, room_id=OTHER_ROOM_ID)],
    ],
    ids=[
        "none", "100", "a gap", "backwards", "one number twice", "zero", "no number", "another epoch",
        "two epochs", "beyond the last number", "two rooms",
    ],
)  # fmt: skip
def test_comments_that_cannot_be_a_batch_are_refused_before_the_store(posted: list) -> None:
    with pytest.raises(InvalidBatch):
        post_comments(posted, 1)


@pytest.mark.parametrize("case", ["unknown", "never acquired", "closed", "paused", "older epoch", "later epoch"])
async def test_a_room_that_accepts_no_comments_accepts_none_of_a_batch(store: Store, case: str) -> None:
    epoch = 1
    if case == "never acquired":
        await store.write(create_room(room()))
    elif case != "unknown":
        epoch = await open_room(store)
    if case == "closed":
        await store.write(close_room(ROOM_ID, MIDORI, START, 1))
    elif case == "paused":
        await store.write(pause_room(host_action(), epoch, True))
    elif case == "older epoch":
        await acquire_epoch(store)
    elif case == "later epoch":
        epoch += 1
    await assert_refused(store, post_comments([comment(1, epoch=epoch), comment(2, epoch=epoch)], epoch))
    assert await read_all(store, comments_after(ROOM_ID, SEQ_START)) == []


async def test_a_comment_id_in_use_replaces_no_comment(store: Store) -> None:
    epoch = await open_room(store)
    await store.write(post_comments([comment(1)], epoch))
    stolen = replace(comment(2, "別のこと"), comment_id=comment(1).comment_id)
    await assert_refused(store, post_comments([stolen, comment(3)], epoch))
    assert await read_all(store, comments_after(ROOM_ID, SEQ_START)) == [comment(1)]


@pytest.mark.parametrize(
    ("sender", "later", "accepted"), [(SORA, 0, True), (SORA, 60, True), (SORA, 60.001, False), (YUNA, 1, False)]
)
async def test_senders_can_remove_their_own_comments_for_a_minute(
    store: Store, sender: str, later: float, accepted: bool
) -> None:
    epoch = await open_room(store)
    await store.write(post_comments([replace(comment(1), created_at=NOW)], epoch))
    plan = remove_own_comment(ROOM_ID, comment(1).comment_id, sender, START + later, 1)  # pyright: ignore[reportArgumentType]
    if not accepted:
        await assert_refused(store, plan)
        assert len(await read_all(store, comments_after(ROOM_ID, SEQ_START))) == 1
        return
    await store.write(plan)
    assert await read_all(store, comments_after(ROOM_ID, SEQ_START)) == []
    deletion = Mark(room_id=ROOM_ID, mark="DELETED", comment_id=comment(1).comment_id, at=instant_ms(START + later))
    await eventually(lambda: read_all(store, marked(ROOM_ID, "DELETED")), [deletion])
    await assert_refused(store, plan)


# Connections


async def test_a_client_that_joins_is_listed_until_it_leaves(store: Store) -> None:
    await open_room(store)
    joined = await store.write(join(ROOM_ID, WEB, [socket(1)], START))
    assert joined == Connection(
        connection_id=socket(1), room_id=ROOM_ID, timestamp=NOW, ttl=int(START) + 86_400, owner=WEB
    )
    await store.write(join(ROOM_ID, WEB, [socket(2)], START))
    await eventually(lambda: store.get(connection(socket(1))), joined)
    await eventually(
        lambda: connection_ids(store, connections_in(ROOM_ID)),
        {socket(1), socket(2)},
    )
    assert await store.write(leave(socket(1))) == joined
    await eventually(lambda: connection_ids(store, connections_in(ROOM_ID)), {socket(2)})
    assert await store.write(leave(socket(1))) is None


async def connection_ids(store: Store, query: Query) -> set[str]:
    return {it.connection_id async for it in store.each(query)}


@pytest.mark.parametrize("count", [0, 100])
def test_a_write_has_at_most_99_joins(count: int) -> None:
    with pytest.raises(InvalidBatch, match="1 to 99 joins"):
        join(ROOM_ID, WEB, [socket(number) for number in range(count)], START)


@pytest.mark.parametrize("count", [0, 98])
@pytest.mark.parametrize("plan_of", [upvote, upvote_first])
def test_a_write_has_at_most_97_upvotes_of_a_question(plan_of: Callable[..., Plan], count: int) -> None:
    with pytest.raises(InvalidBatch, match="1 to 97 upvotes"):
        plan_of(ROOM_ID, comment(1).comment_id, [SenderId(f"guest:{number}") for number in range(count)], START, 1)


def test_a_client_that_joins_twice_in_a_write_joins_once() -> None:
    assert join(ROOM_ID, WEB, [socket(1), socket(2), socket(1)], START) == join(
        ROOM_ID, WEB, [socket(1), socket(2)], START
    )


@pytest.mark.parametrize("case", ["closed", "unknown"])
async def test_a_closed_or_unknown_room_cannot_be_joined(store: Store, case: str) -> None:
    if case == "closed":
        await open_room(store)
        await store.write(close_room(ROOM_ID, MIDORI, START, 1))
    await assert_refused(store, join(ROOM_ID, WEB, [socket(1)], START))
    assert await store.get(connection(socket(1)), strong=True) is None


async def test_a_client_that_joins_another_room_is_in_that_one_only(store: Store) -> None:
    await open_room(store)
    await open_room(store, room(OTHER_ROOM_ID))
    await store.write(join(ROOM_ID, WEB, [socket(1)], START))
    await store.write(join(OTHER_ROOM_ID, WEB, [socket(1)], START + 1))
    await eventually(lambda: connection_ids(store, connections_in(ROOM_ID)), set())
    await eventually(lambda: connection_ids(store, connections_in(OTHER_ROOM_ID)), {socket(1)})


async def test_a_connection_expires_after_24_hours(store: Store, clock: ManualClock) -> None:
    await open_room(store)
    await store.write(join(ROOM_ID, WEB, [socket(1)], START))
    await clock.advance(86_399)
    assert await store.get(connection(socket(1)), strong=True) is not None
    await clock.advance(1)
    assert await store.get(connection(socket(1)), strong=True) is None
    await eventually(lambda: connection_ids(store, connections_in(ROOM_ID)), set())


async def test_a_restarted_process_sweeps_its_own_old_connections_and_no_others(store: Store) -> None:
    await open_room(store)
    other = ProcessName("web-2")
    for number, owner, at in ((1, WEB, START), (2, WEB, START + 1), (3, other, START), (4, WEB, START + 9)):
        await store.write(join(ROOM_ID, owner, [socket(number)], at))
    started = instant_ms(START + 9)
    orphans = [
        OwnedConnection(connection_id=socket(1), timestamp=NOW),
        OwnedConnection(connection_id=socket(2), timestamp=instant_ms(START + 1)),
    ]
    await eventually(lambda: read_all(store, left_behind(WEB, started)), orphans)
    for orphan in orphans:
        await assert_refused(store, sweep_connection(other, orphan))
        await store.write(sweep_connection(WEB, orphan))
    await eventually(lambda: read_all(store, left_behind(WEB, started)), [])
    await eventually(lambda: connection_ids(store, connections_in(ROOM_ID)), {socket(3), socket(4)})
