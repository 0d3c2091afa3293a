"""Removing an account deletes its rooms and makes its comments in other rooms anonymous."""

from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from tests.live.entities import (
    OTHER_ROOM_ID,
    ROOM_ID,
    comment,
    host_action,
    open_room,
    room,
    socket,
    store_unreadable,
    uuid,
)
from tests.support.app_context import all_items, app_context, items_containing, user_identity
from tests.support.manual_clock import ManualClock
from tests.support.raw_items import raw_items
from tests.support.stores import START
from zataku.errors import Conflict, Unavailable
from zataku.live.design import DEPARTURES, TABLES, Comment, Room, comments_of, moderation, room_now
from zataku.live.limits import ANONYMOUS, HostId, RoomId, SenderId
from zataku.live.messages import CloseRoom
from zataku.live.moderation.design import AnonymousSender, HostNames, Upvote, Upvotes, anonymous_senders_in
from zataku.live.moderation.writes import block_sender, delete_comment, mark_comment
from zataku.live.removal import removal
from zataku.live.writes import close_room, join, post_comments, remove_own_comment, upvote, upvote_first
from zataku.platform.identity import Identity
from zataku.table import Query, Store

ACCOUNT = user_identity(uuid(77)).account_id
HOST, ME, OTHER = HostId(ACCOUNT), SenderId(ACCOUNT), SenderId(uuid(78))
REMOVAL_UNITS = (3, 6, 2)
MINE, CLOSED = RoomId(uuid(3)), RoomId(uuid(4))


class RoomRegistryStub:
    """A room registry that closes rooms for their host, or fails while `is_unavailable`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.closed: list[str] = []
        self.is_unavailable = False

    def running(self, _kind: str) -> dict[str, int]:
        """No room runs."""
        return {}

    async def execute(self, topic: str, sender: Identity, body: object) -> None:
        if self.is_unavailable:
            raise Unavailable("The room has no owner. Try again.")
        assert body == CloseRoom()
        kind, _, room_id = topic.partition("/")
        room = await self.store.get(room_now(RoomId(room_id)))
        if kind != "live" or room is None or room.status == "CLOSED":
            raise Conflict("The room is closed.")
        await self.store.write(close_room(RoomId(room_id), HostId(sender.account_id), START, 1))
        self.closed.append(room_id)


@pytest.fixture
async def registry(strict: Store) -> RoomRegistryStub:
    """Two rooms of the account, and one of another host with data of every kind about the account."""
    for room_id in (MINE, CLOSED):
        epoch = await open_room(strict, room(room_id, HOST))
        posted = [comment(1, room_id=room_id, sender=OTHER), comment(2, room_id=room_id)]
        names = [
            AnonymousSender(room_id=room_id, sender_id=OTHER, number=1),
            HostNames(room_id=room_id, names=("みどり",)),
        ]
        await strict.write(post_comments(posted, epoch, names))
        await strict.write(upvote_first(room_id, comment(1).comment_id, [OTHER, ME], START, 1))
        await strict.write(upvote_first(room_id, comment(2).comment_id, [OTHER], START, 1))
        await strict.write(mark_comment(host_action(1, HOST, room_id), "PINNED", comment(1).comment_id, 1))
        await strict.write(delete_comment(host_action(2, HOST, room_id), comment(2).comment_id, 1))
        await strict.write(join(room_id, "web-1", [socket(int(room_id[-1], 16))], START))
    await strict.write(close_room(CLOSED, HOST, START, 1))
    epoch = await open_room(strict, room(ROOM_ID))
    named = msgspec.structs.replace(comment(1, sender=ME), nickname="はなこ")
    numbers = [
        AnonymousSender(room_id=ROOM_ID, sender_id=sender, number=at) for at, sender in enumerate((OTHER, ME), 1)
    ]
    await strict.write(post_comments([named, comment(2, sender=OTHER)], epoch, numbers))
    await strict.write(upvote_first(ROOM_ID, comment(2).comment_id, [ME, OTHER], START, 1))
    await strict.write(block_sender(host_action(5), epoch, ME, comment(1).comment_id))
    await strict.write(block_sender(host_action(6), epoch, OTHER, comment(1).comment_id))
    return RoomRegistryStub(strict)


async def remove_account(store: Store, clock: ManualClock, registry: RoomRegistryStub) -> None:
    # An index may be stale, so that a removal runs again.
    for _ in range(2):
        await removal(app_context(store, clock, registry))(ACCOUNT)


async def test_the_rooms_of_the_account_are_deleted_with_everything_in_them(
    strict: Store, clock: ManualClock, registry: RoomRegistryStub
):
    await remove_account(strict, clock, registry)
    assert await items_containing(strict, TABLES, ACCOUNT, MINE, CLOSED) == []
    assert registry.closed == [MINE]


class RacingRemovalStore:
    """A store in which a sender removes a comment just before those of its room are deleted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def each(self, query: Query[Any], **options: Any) -> AsyncIterator[Any]:
        if query.fingerprint() == comments_of(MINE).fingerprint():
            await self._store.write(remove_own_comment(MINE, comment(1).comment_id, OTHER, START + 1, None))
        async for item in self._store.each(query, **options):
            yield item

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_a_comment_removed_by_its_sender_during_the_deletion_leaves_nothing_behind(
    strict: Store, clock: ManualClock, registry: RoomRegistryStub
):
    await removal(app_context(cast("Store", RacingRemovalStore(strict)), clock, registry))(ACCOUNT)
    assert await strict.get(room_now(MINE)) is None
    assert await items_containing(strict, [moderation], MINE) == []


async def test_comments_in_the_rooms_of_others_become_anonymous(
    strict: Store, clock: ManualClock, registry: RoomRegistryStub
):
    await remove_account(strict, clock, registry)
    anonymous = await strict.get(Comment.key(room_id=ROOM_ID, comment_id=comment(1).comment_id), strong=True)
    assert anonymous is not None
    assert (anonymous.content, anonymous.nickname, anonymous.sender_id, anonymous.seq) == (
        comment(1).content,
        ANONYMOUS,
        None,
        comment(1).seq,
    )
    other = await strict.get(Comment.key(room_id=ROOM_ID, comment_id=comment(2).comment_id), strong=True)
    assert other == comment(2, sender=OTHER)
    assert isinstance(await strict.get(room_now(ROOM_ID)), Room)


async def test_comments_that_cannot_be_read_are_removed_too(
    strict: Store, clock: ManualClock, registry: RoomRegistryStub
):
    for room_id in (MINE, ROOM_ID):
        await store_unreadable(strict, comment(7, room_id=room_id, sender=ME))
    await remove_account(strict, clock, registry)
    assert [item for item in await raw_items(strict) if MINE in item or ACCOUNT in item] == []


async def test_a_room_that_cannot_be_read_is_removed_too(strict: Store, clock: ManualClock, registry: RoomRegistryStub):
    await store_unreadable(strict, room(CLOSED, HOST))
    await remove_account(strict, clock, registry)
    assert [item for item in await raw_items(strict) if CLOSED in item or ACCOUNT in item] == []


async def test_upvotes_stay_counted_and_blocks_of_others_stay(
    strict: Store, clock: ManualClock, registry: RoomRegistryStub
):
    await remove_account(strict, clock, registry)
    items = [it async for it in strict.scan(moderation)]
    (count,) = [it for it in items if isinstance(it, Upvotes)]
    upvoters = [it.sender_id for it in items if isinstance(it, Upvote)]
    assert (count.votes, len(upvoters), OTHER in upvoters, ME in upvoters) == (2, 2, True, False)
    assert len(await items_containing(strict, [moderation], '"SENDER"')) == 1


async def test_the_number_of_the_account_stays_taken(strict: Store, clock: ManualClock, registry: RoomRegistryStub):
    await remove_account(strict, clock, registry)
    senders = [it async for it in strict.each(anonymous_senders_in(ROOM_ID))]
    assert sorted(it.number for it in senders) == [1, 2]
    assert {it.number: it.sender_id for it in senders}[1] == OTHER
    assert ME not in {it.sender_id for it in senders}


async def test_a_removal_reads_what_the_account_wrote_and_not_the_tables(embedded: Store, clock: ManualClock):
    epoch = await open_room(embedded, room(ROOM_ID))
    crowd = [comment(number, sender=OTHER) for number in range(2, 100)]
    await embedded.write(post_comments([comment(1, sender=ME), *crowd], epoch))
    await embedded.write(upvote_first(ROOM_ID, comment(2).comment_id, [ME], START, 1))
    voters = [SenderId(f"guest:{number:012x}") for number in range(97)]
    await embedded.write(upvote(ROOM_ID, comment(2).comment_id, voters, START, 1))
    await embedded.write(block_sender(host_action(5), epoch, ME, comment(1).comment_id))
    with embedded.measured("removal") as consumed:
        await removal(app_context(embedded, clock, RoomRegistryStub(embedded)))(ACCOUNT)
    assert await items_containing(embedded, TABLES, ACCOUNT) == []
    # One page of each of the three indexes.
    assert consumed.reads == 1.5
    assert consumed.writes == sum(REMOVAL_UNITS)
    figures = " ".join(departure.figure for departure in DEPARTURES)
    assert "{} write units for a comment, {} for an upvote and {} for a block.".format(*REMOVAL_UNITS) in figures


async def test_a_room_that_cannot_be_closed_now_is_left_for_the_next_run(
    strict: Store, clock: ManualClock, registry: RoomRegistryStub
):
    registry.is_unavailable = True
    with pytest.raises(Unavailable):
        await remove_account(strict, clock, registry)
    assert await strict.get(room_now(MINE)) is not None
    registry.is_unavailable = False
    await remove_account(strict, clock, registry)
    assert await items_containing(strict, TABLES, ACCOUNT, MINE, CLOSED) == []


async def test_a_second_removal_changes_nothing(strict: Store, clock: ManualClock, registry: RoomRegistryStub):
    await remove_account(strict, clock, registry)
    after = await all_items(strict, TABLES)
    await remove_account(strict, clock, registry)
    assert await all_items(strict, TABLES) == after
    assert await strict.get(room_now(OTHER_ROOM_ID)) is None
