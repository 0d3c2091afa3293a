"""Somebody who deletes their account takes their rooms along; in those of others they become anonymous."""

from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from tests.live.entities import ATTIC, HALL, act, opened_room, room, said, socket, uuid
from tests.support.app_context import all_items, app_context, items_containing, user_identity
from tests.support.stores import START
from zataku.clock import ManualClock
from zataku.errors import Conflict, Unavailable
from zataku.live.design import TABLES, Comment, Room, comments_of, moderation, room_now
from zataku.live.limits import ANONYMOUS, HostId, RoomId, SenderId
from zataku.live.messages import CloseRoom
from zataku.live.moderation.design import Upvote, Upvotes
from zataku.live.moderation.writes import block_sender, delete_comment, mark_comment
from zataku.live.removal import removal
from zataku.live.writes import close_room, join, post_comments, remove_own_comment, upvote_first
from zataku.platform.identity import Identity
from zataku.table import Query, Store

ACCOUNT = user_identity(uuid(77)).account_id
HOST, ME, OTHER = HostId(ACCOUNT), SenderId(ACCOUNT), SenderId(uuid(78))
MINE, CLOSED = RoomId(uuid(3)), RoomId(uuid(4))


class Owners:
    """Whoever runs the rooms: they close them for their host, and say when that cannot be."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.closed: list[str] = []
        self.away = False

    def running(self, _kind: str) -> dict[str, int]:
        """None, when somebody asks."""
        return {}

    async def execute(self, topic: str, sender: Identity, body: object) -> None:
        if self.away:
            raise Unavailable("Nobody runs the room. Try again.")
        assert body == CloseRoom()
        kind, _, room_id = topic.partition("/")
        found = await self.store.get(room_now(RoomId(room_id)))
        if kind != "live" or found is None or found.status == "CLOSED":
            raise Conflict("The room is closed.")
        await self.store.write(close_room(RoomId(room_id), HostId(sender.account_id), START, 1))
        self.closed.append(room_id)


@pytest.fixture
async def owners(strict: Store) -> Owners:
    """Two rooms of the account, and one of somebody else in which it left traces of every kind."""
    for room_id in (MINE, CLOSED):
        epoch = await opened_room(strict, room(room_id, HOST))
        await strict.write(post_comments([said(1, room_id=room_id, sender=OTHER), said(2, room_id=room_id)], epoch))
        await strict.write(upvote_first(room_id, said(1).comment_id, [OTHER, ME], START, 1))
        await strict.write(upvote_first(room_id, said(2).comment_id, [OTHER], START, 1))
        await strict.write(mark_comment(act(1, HOST, room_id), "PINNED", said(1).comment_id, 1))
        await strict.write(delete_comment(act(2, HOST, room_id), said(2).comment_id, 1))
        await strict.write(join(room_id, "web-1", [socket(int(room_id[-1], 16))], START))
    await strict.write(close_room(CLOSED, HOST, START, 1))
    epoch = await opened_room(strict, room(HALL))
    named = msgspec.structs.replace(said(1, sender=ME), nickname="はなこ")
    await strict.write(post_comments([named, said(2, sender=OTHER)], epoch))
    await strict.write(upvote_first(HALL, said(2).comment_id, [ME, OTHER], START, 1))
    await strict.write(block_sender(act(5), epoch, ME, said(1).comment_id))
    await strict.write(block_sender(act(6), epoch, OTHER, said(1).comment_id))
    return Owners(strict)


async def gone(store: Store, clock: ManualClock, owners: Owners) -> None:
    # An index may be late; whoever removes comes again.
    for _ in range(2):
        await removal(app_context(store, clock, owners))(ACCOUNT)


async def test_the_rooms_of_the_account_go_with_everything_in_them(strict: Store, clock: ManualClock, owners: Owners):
    await gone(strict, clock, owners)
    assert await items_containing(strict, TABLES, ACCOUNT, MINE, CLOSED) == []
    assert owners.closed == [MINE]


class TakenBack:
    """A store in which somebody takes back a comment in the moment in which those of its room are to be deleted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def each(self, query: Query[Any]) -> AsyncIterator[Any]:
        if query.fingerprint() == comments_of(MINE).fingerprint():
            await self._store.write(remove_own_comment(MINE, said(1).comment_id, OTHER, START + 1, None))
        async for found in self._store.each(query):
            yield found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_a_comment_that_is_taken_back_meanwhile_leaves_nothing_behind(
    strict: Store, clock: ManualClock, owners: Owners
):
    await removal(app_context(cast("Store", TakenBack(strict)), clock, owners))(ACCOUNT)
    assert await strict.get(room_now(MINE)) is None
    assert await items_containing(strict, [moderation], MINE) == []


async def test_in_the_rooms_of_others_the_words_stay_and_the_name_goes(
    strict: Store, clock: ManualClock, owners: Owners
):
    await gone(strict, clock, owners)
    found = await strict.get(Comment.key(room_id=HALL, comment_id=said(1).comment_id), strong=True)
    assert found is not None
    assert (found.content, found.nickname, found.sender_id, found.seq) == (
        said(1).content,
        ANONYMOUS,
        None,
        said(1).seq,
    )
    other = await strict.get(Comment.key(room_id=HALL, comment_id=said(2).comment_id), strong=True)
    assert other == said(2, sender=OTHER)
    assert isinstance(await strict.get(room_now(HALL)), Room)


async def test_upvotes_stay_counted_and_other_blocks_stay(strict: Store, clock: ManualClock, owners: Owners):
    await gone(strict, clock, owners)
    items = [it async for it in strict.scan(moderation)]
    (count,) = [it for it in items if isinstance(it, Upvotes)]
    upvoters = [it.sender_id for it in items if isinstance(it, Upvote)]
    assert (count.votes, len(upvoters), OTHER in upvoters, ME in upvoters) == (2, 2, True, False)
    assert len(await items_containing(strict, [moderation], '"SENDER"')) == 1


async def test_a_room_that_nobody_can_close_now_is_left_for_the_next_run(
    strict: Store, clock: ManualClock, owners: Owners
):
    owners.away = True
    with pytest.raises(Unavailable):
        await gone(strict, clock, owners)
    assert await strict.get(room_now(MINE)) is not None
    owners.away = False
    await gone(strict, clock, owners)
    assert await items_containing(strict, TABLES, ACCOUNT, MINE, CLOSED) == []


async def test_doing_it_twice_is_doing_it_once(strict: Store, clock: ManualClock, owners: Owners):
    await gone(strict, clock, owners)
    after = await all_items(strict, TABLES)
    await gone(strict, clock, owners)
    assert await all_items(strict, TABLES) == after
    assert await strict.get(room_now(ATTIC)) is None
