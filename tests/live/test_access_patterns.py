"""Every access pattern of the design, and every write with its conditions."""

from collections.abc import Callable
from random import Random

import pytest
from msgspec.structs import replace

from tests.live.entities import (
    ATTIC,
    HALL,
    HARU,
    MIDORI,
    NOW,
    SORA,
    WEB,
    YUNA,
    act,
    all_of,
    opened_room,
    owned,
    refused,
    room,
    said,
    socket,
)
from tests.support.store_reads import eventually
from tests.support.stores import START
from zataku.clock import ManualClock, instant_ms
from zataku.live.design import (
    Connection,
    OwnedConnection,
    comment,
    comments_after,
    comments_of,
    connection,
    connections_in,
    latest_comments,
    left_behind,
    newest_rooms_of,
    oldest_rooms_of,
    room_now,
    seq_of,
)
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


async def test_a_room_by_its_id(store: Store) -> None:
    await store.write(create_room(room()))
    await eventually(lambda: store.get(room_by_id(HALL)), room())
    assert await store.get(room_now(HALL)) == room()
    assert await store.get(room_now(ATTIC)) is None


async def test_a_room_id_in_use_makes_no_second_room(store: Store) -> None:
    await store.write(create_room(room()))
    await refused(store, create_room(room(host_id=HARU)))
    assert await store.get(room_now(HALL)) == room()


def test_a_room_cannot_begin_closed() -> None:
    with pytest.raises(ValueError, match="new room is open"):
        create_room(room(status="CLOSED"))


@pytest.mark.parametrize("held", [{"epoch": 3}, {"paused": True}, {"slow_mode_seconds": 5}])
def test_a_new_room_with_an_owner_or_other_settings_is_refused(held: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="new room has no"):
        create_room(room(**held))


async def test_the_rooms_of_a_host_from_either_end(store: Store) -> None:
    mine = list(rooms_of(Random(1), START, 5))
    await store.write_many(put=[*mine, *rooms_of(Random(2), START, 2, HARU)])
    await eventually(lambda: all_of(store, oldest_rooms_of(MIDORI)), mine)
    await eventually(lambda: all_of(store, newest_rooms_of(MIDORI)), mine[::-1])


async def test_only_the_host_closes_a_room_and_there_is_no_way_back(store: Store) -> None:
    epoch = await opened_room(store)
    await refused(store, close_room(HALL, HARU, START + 5, 1))
    closed = await store.write(close_room(HALL, MIDORI, START + 5, 1))
    assert closed == room(status="CLOSED", updated_at=instant_ms(START + 5), epoch=epoch, code=None)
    await refused(store, close_room(HALL, MIDORI, START + 9, 1))
    await refused(store, create_room(room()))
    await refused(store, take_room(HALL))
    assert await store.get(room_now(HALL)) == closed


async def test_an_unknown_room_cannot_be_closed_or_acquired(store: Store) -> None:
    await refused(store, close_room(HALL, MIDORI, START, 1))
    await refused(store, take_room(HALL))
    assert await store.get(room_now(HALL)) is None


async def test_each_owner_of_a_room_has_an_epoch_of_its_own(store: Store) -> None:
    assert [await opened_room(store), await owned(store), await owned(store)] == [1, 2, 3]


async def test_a_room_that_had_its_last_owner_is_not_acquired_and_stays_readable(store: Store) -> None:
    await store.put(room(epoch=99_998))
    assert await owned(store) == 99_999
    await refused(store, take_room(HALL))
    assert await store.get(room_now(HALL)) == room(epoch=99_999)


# Comments


async def test_all_comments_of_a_room_and_of_no_other(store: Store) -> None:
    posted = [said(number) for number in range(1, 31)]
    epoch = await opened_room(store)
    await store.write(post_comments(posted, epoch))
    other = await opened_room(store, room(ATTIC))
    await store.write(post_comments([said(1, room_id=ATTIC, salt=1)], other))
    by_id = sorted(posted, key=lambda made: made.comment_id)
    await eventually(lambda: all_of(store, comments_of(HALL)), by_id)
    await eventually(lambda: store.get(comment(HALL, posted[3].comment_id)), posted[3])


async def test_a_reader_resumes_after_any_number_and_misses_nothing(store: Store) -> None:
    epoch = await opened_room(store)
    posted = [said(number) for number in range(1, 121)]
    for start in range(0, 120, 30):
        await store.write(post_comments(posted[start : start + 30], epoch))
    for seen in (1, 9, 10, 99, 119, 120):
        assert await all_of(store, comments_after(HALL, seq_of(epoch, seen))) == posted[seen:]
    assert await all_of(store, comments_after(HALL, SEQ_START)) == posted


async def test_a_new_owner_numbers_from_one_and_its_comments_follow_all_that_were_there(store: Store) -> None:
    epoch = await opened_room(store)
    before = [said(number) for number in range(1, 13)]
    await store.write(post_comments(before, epoch))
    assert await owned(store) == epoch + 1
    after = [said(number, salt=1, epoch=epoch + 1) for number in (1, 2)]
    await store.write(post_comments(after, epoch + 1))
    assert await all_of(store, comments_after(HALL, SEQ_START)) == [*before, *after]
    assert await all_of(store, comments_after(HALL, before[-1].seq)) == after


async def test_a_late_reader_gets_the_latest_comments_first(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([said(number) for number in range(1, 13)], epoch))
    await eventually(lambda: all_of(store, latest_comments(HALL)), [said(number) for number in range(12, 0, -1)])


async def test_a_tick_of_99_comments_is_written_at_once(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([said(number) for number in range(1, 100)], epoch))
    assert len(await all_of(store, comments_after(HALL, SEQ_START))) == 99


@pytest.mark.parametrize(
    "posted",
    [
        [],
        [said(number) for number in range(1, 101)],
        [said(1), said(3)],
        [said(2), said(1)],
        [said(1), said(1, salt=1)],
        [replace(said(1), seq="000010000000")],
        [replace(said(1), seq=None)],
        [said(1, epoch=2)],
        [said(1), said(2, epoch=2)],
        [said(9_999_999), replace(said(1), seq="000020000000")],
        [said(1), said(2, room_id=ATTIC)],
    ],
    ids=[
        "none", "100", "a gap", "backwards", "one number twice", "zero", "no number", "another epoch's",
        "one of another epoch", "more than an owner has", "two rooms",
    ],
)  # fmt: skip
def test_comments_that_cannot_be_a_tick_are_refused_before_the_store(posted: list) -> None:
    with pytest.raises(InvalidBatch):
        post_comments(posted, 1)


@pytest.mark.parametrize("case", ["unknown", "never taken", "closed", "paused", "older epoch", "later epoch"])
async def test_a_room_that_accepts_no_comments_accepts_none_of_a_tick(store: Store, case: str) -> None:
    epoch = 1
    if case == "never taken":
        await store.write(create_room(room()))
    elif case != "unknown":
        epoch = await opened_room(store)
    if case == "closed":
        await store.write(close_room(HALL, MIDORI, START, 1))
    elif case == "paused":
        await store.write(pause_room(act(), epoch, True))
    elif case == "older epoch":
        await owned(store)
    elif case == "later epoch":
        epoch += 1
    await refused(store, post_comments([said(1, epoch=epoch), said(2, epoch=epoch)], epoch))
    assert await all_of(store, comments_after(HALL, SEQ_START)) == []


async def test_a_comment_id_in_use_replaces_no_comment(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([said(1)], epoch))
    stolen = replace(said(2, "別のこと"), comment_id=said(1).comment_id)
    await refused(store, post_comments([stolen, said(3)], epoch))
    assert await all_of(store, comments_after(HALL, SEQ_START)) == [said(1)]


@pytest.mark.parametrize(
    ("sender", "later", "taken"), [(SORA, 0, True), (SORA, 60, True), (SORA, 60.001, False), (YUNA, 1, False)]
)
async def test_senders_can_remove_their_own_comments_for_a_minute(
    store: Store, sender: str, later: float, taken: bool
) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([replace(said(1), created_at=NOW)], epoch))
    plan = remove_own_comment(HALL, said(1).comment_id, sender, START + later, 1)  # pyright: ignore[reportArgumentType]
    if not taken:
        await refused(store, plan)
        assert len(await all_of(store, comments_after(HALL, SEQ_START))) == 1
        return
    await store.write(plan)
    assert await all_of(store, comments_after(HALL, SEQ_START)) == []
    gone = Mark(room_id=HALL, mark="DELETED", comment_id=said(1).comment_id, at=instant_ms(START + later))
    await eventually(lambda: all_of(store, marked(HALL, "DELETED")), [gone])
    await refused(store, plan)


# Connections


async def test_a_client_joins_an_open_room_is_found_and_leaves(store: Store) -> None:
    await opened_room(store)
    joined = await store.write(join(HALL, WEB, [socket(1)], START))
    assert joined == Connection(
        connection_id=socket(1), room_id=HALL, timestamp=NOW, ttl=int(START) + 86_400, owner=WEB
    )
    await store.write(join(HALL, WEB, [socket(2)], START))
    await eventually(lambda: store.get(connection(socket(1))), joined)
    await eventually(
        lambda: _sockets(store, connections_in(HALL)),
        {socket(1), socket(2)},
    )
    assert await store.write(leave(socket(1))) == joined
    await eventually(lambda: _sockets(store, connections_in(HALL)), {socket(2)})
    assert await store.write(leave(socket(1))) is None


async def _sockets(store: Store, query: Query) -> set[str]:
    return {found.connection_id async for found in store.each(query)}


@pytest.mark.parametrize("count", [0, 100])
def test_a_tick_has_at_most_99_joins(count: int) -> None:
    with pytest.raises(InvalidBatch, match="1 to 99 joins"):
        join(HALL, WEB, [socket(number) for number in range(count)], START)


@pytest.mark.parametrize("count", [0, 98])
@pytest.mark.parametrize("voting", [upvote, upvote_first])
def test_a_tick_has_at_most_97_upvotes_of_a_question(voting: Callable[..., Plan], count: int) -> None:
    with pytest.raises(InvalidBatch, match="1 to 97 upvotes"):
        voting(HALL, said(1).comment_id, [SenderId(f"guest:{number}") for number in range(count)], START, 1)


def test_a_client_that_joins_twice_in_a_tick_joins_once() -> None:
    assert join(HALL, WEB, [socket(1), socket(2), socket(1)], START) == join(HALL, WEB, [socket(1), socket(2)], START)


@pytest.mark.parametrize("case", ["closed", "unknown"])
async def test_a_closed_or_unknown_room_cannot_be_joined(store: Store, case: str) -> None:
    if case == "closed":
        await opened_room(store)
        await store.write(close_room(HALL, MIDORI, START, 1))
    await refused(store, join(HALL, WEB, [socket(1)], START))
    assert await store.get(connection(socket(1)), strong=True) is None


async def test_a_client_that_joins_another_room_is_in_that_one_only(store: Store) -> None:
    await opened_room(store)
    await opened_room(store, room(ATTIC))
    await store.write(join(HALL, WEB, [socket(1)], START))
    await store.write(join(ATTIC, WEB, [socket(1)], START + 1))
    await eventually(lambda: _sockets(store, connections_in(HALL)), set())
    await eventually(lambda: _sockets(store, connections_in(ATTIC)), {socket(1)})


async def test_a_connection_is_forgotten_after_24_hours(store: Store, clock: ManualClock) -> None:
    await opened_room(store)
    await store.write(join(HALL, WEB, [socket(1)], START))
    await clock.advance(86_399)
    assert await store.get(connection(socket(1)), strong=True) is not None
    await clock.advance(1)
    assert await store.get(connection(socket(1)), strong=True) is None
    await eventually(lambda: _sockets(store, connections_in(HALL)), set())


async def test_a_restarted_process_sweeps_its_own_old_connections_and_no_others(store: Store) -> None:
    await opened_room(store)
    other = ProcessName("web-2")
    for number, owner, at in ((1, WEB, START), (2, WEB, START + 1), (3, other, START), (4, WEB, START + 9)):
        await store.write(join(HALL, owner, [socket(number)], at))
    started = instant_ms(START + 9)
    orphans = [
        OwnedConnection(connection_id=socket(1), timestamp=NOW),
        OwnedConnection(connection_id=socket(2), timestamp=instant_ms(START + 1)),
    ]
    await eventually(lambda: all_of(store, left_behind(WEB, started)), orphans)
    for orphan in orphans:
        await refused(store, sweep_connection(other, orphan))
        await store.write(sweep_connection(WEB, orphan))
    await eventually(lambda: all_of(store, left_behind(WEB, started)), [])
    await eventually(lambda: _sockets(store, connections_in(HALL)), {socket(3), socket(4)})
