"""Each question that the design answers, and each write with the rules that it keeps."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.contract.asking import eventually
from tests.live.talk import (
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
from tests.opened import START
from zataku.clock import ManualClock
from zataku.live.design import (
    Connection,
    Mark,
    Socket,
    comment,
    comments_after,
    comments_of,
    connection,
    connections_in,
    latest_comments,
    left_behind,
    marked,
    newest_rooms_of,
    oldest_rooms_of,
    room_now,
)
from zataku.live.design import room as room_by_id
from zataku.live.errors import UnfitComments
from zataku.live.hosting import pause_room
from zataku.live.limits import BEFORE_ALL, ProcessName, moment, seq_of
from zataku.live.samples import rooms_of
from zataku.live.writes import (
    close_room,
    create_room,
    join,
    leave,
    post_comments,
    remove_own_comment,
    take_room,
)
from zataku.table import Query, Store

# Rooms


async def test_a_room_by_its_id(store: Store) -> None:
    await store.write(create_room(room()))
    await eventually(lambda: store.get(room_by_id(HALL)), room())
    assert await store.get(room_now(HALL)) == room()
    assert await store.get(room_now(ATTIC)) is None


async def test_an_id_that_is_taken_makes_no_second_room(store: Store) -> None:
    await store.write(create_room(room()))
    await refused(store, create_room(room(host_id=HARU)))
    assert await store.get(room_now(HALL)) == room()


def test_a_room_cannot_begin_closed() -> None:
    with pytest.raises(ValueError, match="begins open"):
        create_room(room(status="CLOSED"))


async def test_the_rooms_of_a_host_from_either_end(store: Store) -> None:
    mine = list(rooms_of(Random(1), START, 5))
    await store.write_many(put=[*mine, *rooms_of(Random(2), START, 2, HARU)])
    await eventually(lambda: all_of(store, oldest_rooms_of(MIDORI)), mine)
    await eventually(lambda: all_of(store, newest_rooms_of(MIDORI)), mine[::-1])


async def test_only_the_host_closes_a_room_and_there_is_no_way_back(store: Store) -> None:
    epoch = await opened_room(store)
    await refused(store, close_room(HALL, HARU, START + 5))
    closed = await store.write(close_room(HALL, MIDORI, START + 5))
    assert closed == room(status="CLOSED", updated_at=moment(START + 5), epoch=epoch)
    await refused(store, close_room(HALL, MIDORI, START + 9))
    await refused(store, create_room(room()))
    await refused(store, take_room(HALL))
    assert await store.get(room_now(HALL)) == closed


async def test_a_room_that_is_not_there_cannot_be_closed_or_taken(store: Store) -> None:
    await refused(store, close_room(HALL, MIDORI, START))
    await refused(store, take_room(HALL))
    assert await store.get(room_now(HALL)) is None


async def test_each_owner_of_a_room_has_an_epoch_of_its_own(store: Store) -> None:
    assert [await opened_room(store), await owned(store), await owned(store)] == [1, 2, 3]


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
    for seen in (0, 1, 9, 10, 99, 119, 120):
        assert await all_of(store, comments_after(HALL, seq_of(seen))) == posted[seen:]
    assert await all_of(store, comments_after(HALL, BEFORE_ALL)) == posted


async def test_a_new_owner_learns_the_last_number(store: Store) -> None:
    epoch = await opened_room(store)
    assert await store.first(latest_comments(HALL)) is None
    await store.write(post_comments([said(number) for number in range(1, 13)], epoch))
    assert await store.first(latest_comments(HALL)) == said(12)


async def test_a_tick_of_99_comments_is_written_at_once(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([said(number) for number in range(1, 100)], epoch))
    assert len(await all_of(store, comments_after(HALL, BEFORE_ALL))) == 99


@pytest.mark.parametrize(
    "posted",
    [
        [],
        [said(number) for number in range(1, 101)],
        [said(1), said(3)],
        [said(2), said(1)],
        [said(1), said(1, salt=1)],
        [said(0)],
        [replace(said(1), seq=None)],
        [said(1), said(2, room_id=ATTIC)],
    ],
    ids=["none", "100", "a gap", "backwards", "one number twice", "zero", "no number", "two rooms"],
)
def test_comments_that_cannot_be_a_tick_are_refused_before_the_store(posted: list) -> None:
    with pytest.raises(UnfitComments):
        post_comments(posted, 1)


@pytest.mark.parametrize("case", ["unknown", "never taken", "closed", "paused", "older epoch", "later epoch"])
async def test_a_room_that_takes_no_comments_takes_none_of_a_tick(store: Store, case: str) -> None:
    epoch = 1
    if case == "never taken":
        await store.write(create_room(room()))
    elif case != "unknown":
        epoch = await opened_room(store)
    if case == "closed":
        await store.write(close_room(HALL, MIDORI, START))
    elif case == "paused":
        await store.write(pause_room(act(), epoch, True))
    elif case == "older epoch":
        await owned(store)
    elif case == "later epoch":
        epoch += 1
    await refused(store, post_comments([said(1), said(2)], epoch))
    assert await all_of(store, comments_after(HALL, BEFORE_ALL)) == []


async def test_an_id_that_is_taken_replaces_no_comment(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([said(1)], epoch))
    stolen = replace(said(2, "別のこと"), comment_id=said(1).comment_id)
    await refused(store, post_comments([stolen, said(3)], epoch))
    assert await all_of(store, comments_after(HALL, BEFORE_ALL)) == [said(1)]


@pytest.mark.parametrize(
    ("sender", "later", "taken"), [(SORA, 0, True), (SORA, 60, True), (SORA, 60.001, False), (YUNA, 1, False)]
)
async def test_people_take_back_their_own_comments_for_a_minute(
    store: Store, sender: str, later: float, taken: bool
) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([replace(said(1), created_at=NOW)], epoch))
    plan = remove_own_comment(HALL, said(1).comment_id, sender, START + later)  # pyright: ignore[reportArgumentType]
    if not taken:
        await refused(store, plan)
        assert len(await all_of(store, comments_after(HALL, BEFORE_ALL))) == 1
        return
    await store.write(plan)
    assert await all_of(store, comments_after(HALL, BEFORE_ALL)) == []
    gone = Mark(room_id=HALL, mark="DELETED", comment_id=said(1).comment_id, at=moment(START + later))
    await eventually(lambda: all_of(store, marked(HALL, "DELETED")), [gone])
    await refused(store, plan)


# Connections


async def test_a_client_joins_an_open_room_is_found_and_leaves(store: Store) -> None:
    await opened_room(store)
    joined = await store.write(join(socket(1), HALL, WEB, START))
    assert joined == Connection(
        connection_id=socket(1), room_id=HALL, timestamp=NOW, ttl=int(START) + 86_400, owner=WEB
    )
    await store.write(join(socket(2), HALL, WEB, START))
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


@pytest.mark.parametrize("case", ["closed", "unknown"])
async def test_nobody_joins_a_closed_or_unknown_room(store: Store, case: str) -> None:
    if case == "closed":
        await opened_room(store)
        await store.write(close_room(HALL, MIDORI, START))
    await refused(store, join(socket(1), HALL, WEB, START))
    assert await store.get(connection(socket(1)), strong=True) is None


async def test_a_client_that_joins_another_room_is_in_that_one_only(store: Store) -> None:
    await opened_room(store)
    await opened_room(store, room(ATTIC))
    await store.write(join(socket(1), HALL, WEB, START))
    await store.write(join(socket(1), ATTIC, WEB, START + 1))
    await eventually(lambda: _sockets(store, connections_in(HALL)), set())
    await eventually(lambda: _sockets(store, connections_in(ATTIC)), {socket(1)})


async def test_a_connection_is_forgotten_after_24_hours(store: Store, clock: ManualClock) -> None:
    await opened_room(store)
    await store.write(join(socket(1), HALL, WEB, START))
    await clock.advance(86_399)
    assert await store.get(connection(socket(1)), strong=True) is not None
    await clock.advance(1)
    assert await store.get(connection(socket(1)), strong=True) is None
    await eventually(lambda: _sockets(store, connections_in(HALL)), set())


async def test_a_process_that_starts_anew_sweeps_what_it_held_and_nothing_else(store: Store) -> None:
    await opened_room(store)
    other = ProcessName("web-2")
    for number, owner, at in ((1, WEB, START), (2, WEB, START + 1), (3, other, START), (4, WEB, START + 9)):
        await store.write(join(socket(number), HALL, owner, at))
    started = moment(START + 9)
    orphans = [
        Socket(connection_id=socket(1), timestamp=NOW),
        Socket(connection_id=socket(2), timestamp=moment(START + 1)),
    ]
    await eventually(lambda: all_of(store, left_behind(WEB, started)), orphans)
    for orphan in orphans:
        await store.write(leave(orphan.connection_id))
    await eventually(lambda: all_of(store, left_behind(WEB, started)), [])
    await eventually(lambda: _sockets(store, connections_in(HALL)), {socket(3), socket(4)})
