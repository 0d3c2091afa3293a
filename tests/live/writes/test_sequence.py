"""Readers that resume get all comments in order while owners change, replies are lost and comments are deleted."""

import asyncio
from collections import deque
from contextlib import suppress
from itertools import count
from random import Random

import pytest

from tests.live.entities import ROOM_ID, SORA, acquire_epoch, assert_refused, comment, host_action, open_room, read_all
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.live.design import Comment, comments_after, room_now
from zataku.live.limits import SEQ_START, CommentId
from zataku.live.moderation.design import Mark
from zataku.live.moderation.writes import delete_comment
from zataku.live.writes import post_comments, remove_own_comment
from zataku.table import Plan, ResultUnknown, Store, TransactionCancelled

CONTENTS = [f"コメント {number}" for number in range(60)]


class ContestedRoom:
    """The comments of the room: still to be posted, acknowledged, and deleted by the host."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.random = Random(11)
        self.salts = count(1)
        self.unposted = deque(CONTENTS)
        self.acknowledged: list[Comment] = []
        self.deleted: set[CommentId] = set()
        self.late: list[asyncio.Task[None]] = []
        self.has_ended = False

    async def after(self, seen: list[Comment]) -> list[Comment]:
        return await read_all(self.store, comments_after(ROOM_ID, seen[-1].seq if seen else SEQ_START))

    async def read(self) -> list[Comment]:
        """Read to the end of the room, resuming after the last comment seen."""
        seen: list[Comment] = []
        while not self.has_ended:
            seen += await self.after(seen)
            await asyncio.sleep(0)
        return seen + await self.after(seen)

    async def pause(self) -> None:
        """Let other tasks run for some turns of the event loop."""
        for _ in range(self.random.randrange(30)):
            await asyncio.sleep(0)

    async def delete_newest(self) -> None:
        *_, newest = await self.after([])
        number = len(self.deleted) + 1
        while newest.comment_id not in self.deleted:
            room = await self.store.get(room_now(ROOM_ID))
            assert room is not None
            deletion = delete_comment(host_action(number), newest.comment_id, room.epoch)
            # The host's action goes through the owner, and another process may have acquired the room since.
            with suppress(TransactionCancelled):
                await self.store.write(deletion, token=f"delete-{number}-{room.epoch}")
                self.deleted.add(newest.comment_id)


class Owner:
    """A process that repeats a batch of unknown outcome, or acquires the room again."""

    def __init__(self, room: ContestedRoom, repeats: bool) -> None:
        self.room = room
        self.repeats = repeats
        self.epoch = self.last_number = 0

    async def acquire(self) -> None:
        self.epoch, self.last_number = await acquire_epoch(self.room.store), 0

    async def own_room(self) -> None:
        """Own the room until another process does, or all comments are posted."""
        await self.acquire()
        while self.room.unposted:
            contents = [self.room.unposted.popleft() for _ in range(min(3, len(self.room.unposted)))]
            batch = [
                comment(self.last_number + at, content, salt=next(self.room.salts), epoch=self.epoch)
                for at, content in enumerate(contents, 1)
            ]
            self.last_number += len(batch)
            try:
                is_stored = await self._post(batch)
            except TransactionCancelled:
                self.room.unposted.extend(contents)
                return
            if is_stored:
                self.room.acknowledged += batch
            else:
                self.room.unposted.extend(contents)

    async def _post(self, batch: list[Comment]) -> bool:
        plan, token = post_comments(batch, self.epoch), f"batch-{batch[0].seq}" if self.repeats else None
        try:
            if self.room.random.random() < 0.4:
                self.room.late.append(asyncio.create_task(self._write_late(plan, token)))
                if not self.repeats:
                    raise ResultUnknown("The reply was lost.")
                await self.room.pause()
            await self.room.store.write(plan, token=token, at=START)
        except ResultUnknown:
            await self.acquire()
            comments = [Comment.key(room_id=ROOM_ID, comment_id=it.comment_id) for it in batch]
            marks = [Mark.key(room_id=ROOM_ID, mark="DELETED", comment_id=it.comment_id) for it in batch]
            return any(await self.room.store.get_many([*comments, *marks], strong=True))
        return True

    async def _write_late(self, plan: Plan[Comment], token: str | None) -> None:
        """A delayed attempt to write whose reply is lost."""
        await self.room.pause()
        await self.room.store.write(plan, token=token, at=START)


async def test_readers_see_every_acknowledged_comment_once_and_in_one_order(contested: Store) -> None:
    await open_room(contested)
    room = ContestedRoom(contested)
    readers = [asyncio.create_task(room.read()) for _ in range(2)]
    owners: list[asyncio.Task[None]] = []
    while room.unposted or not all(owner.done() for owner in owners):
        owners.append(asyncio.create_task(Owner(room, repeats=len(owners) % 2 == 0).own_room()))
        wanted = len(room.acknowledged) + 9
        while len(room.acknowledged) < wanted and not owners[-1].done():
            await asyncio.sleep(0)
        if room.unposted:
            await room.delete_newest()
        else:
            await asyncio.gather(*owners)
    await asyncio.gather(*room.late, return_exceptions=True)
    room.has_ended = True

    stored = await room.after([])
    for seen in await asyncio.gather(*readers):
        assert [it for it in seen if it.comment_id not in room.deleted] == stored
        room.acknowledged += seen
    assert {it.seq for it in room.acknowledged if it.comment_id not in room.deleted} == {it.seq for it in stored}
    by_id = {it.comment_id: it for it in room.acknowledged}
    assert sorted(it.content for it in by_id.values()) == sorted(CONTENTS)
    assert len({it.seq for it in by_id.values()}) == len(by_id)
    assert len({it.seq[:5] for it in stored}) > 3
    assert room.deleted
    assert room.late


async def test_an_owner_that_lost_its_room_cannot_write(contested: Store) -> None:
    old = await open_room(contested)
    await contested.write(post_comments([comment(number, epoch=old) for number in (1, 2, 3)], old), token="before")

    async def old_owner() -> None:
        for number in range(4, 24):
            await contested.write(post_comments([comment(number, "old", epoch=old)], old), token=f"old-{number}")

    async def new_owner() -> list[Comment]:
        epoch = await acquire_epoch(contested)
        comments = [comment(number, "new", salt=1, epoch=epoch) for number in range(1, 6)]
        for new_comment in comments:
            await contested.write(post_comments([new_comment], epoch), token=f"new-{new_comment.seq}")
        return comments

    stale, posted = await asyncio.gather(old_owner(), new_owner(), return_exceptions=True)
    assert isinstance(stale, TransactionCancelled)
    stored = await read_all(contested, comments_after(ROOM_ID, SEQ_START))
    assert stored[-5:] == posted
    assert [it.seq for it in stored[:-5]] == [comment(at, epoch=old).seq for at in range(1, len(stored) - 4)]


async def test_a_reader_misses_nothing_though_the_newest_comments_were_deleted_before_a_takeover(
    contested: Store,
) -> None:
    epoch = await open_room(contested)
    before = [comment(number, epoch=epoch) for number in range(1, 11)]
    await contested.write(post_comments(before, epoch), token="before")
    await contested.write(delete_comment(host_action(1), before[9].comment_id, 1), token="by the host")
    await contested.write(remove_own_comment(ROOM_ID, before[8].comment_id, SORA, START, 1), token="by its sender")
    epoch = await acquire_epoch(contested)
    following = comment(1, salt=1, epoch=epoch)
    await contested.write(post_comments([following], epoch), token="after")
    assert await read_all(contested, comments_after(ROOM_ID, before[9].seq)) == [following]


async def test_a_batch_repeated_with_its_token_restores_no_deleted_comment(contested: Store) -> None:
    epoch = await open_room(contested)
    batch = post_comments([comment(1, epoch=epoch)], epoch)
    await contested.write(batch, token="batch", at=START)
    await contested.write(delete_comment(host_action(1), comment(1).comment_id, 1), token="delete")
    await contested.write(batch, token="batch", at=START)
    assert await read_all(contested, comments_after(ROOM_ID, SEQ_START)) == []


@pytest.mark.parametrize("token", [None, "batch"])
async def test_a_batch_whose_token_expired_is_refused_after_the_room_was_acquired_again(
    embedded: Store, clock: ManualClock, token: str | None
) -> None:
    epoch = await open_room(embedded)
    batch = post_comments([comment(1)], epoch)
    await embedded.write(batch, token=token, at=START)
    await embedded.write(delete_comment(host_action(1), comment(1).comment_id, 1))
    await clock.advance(601)
    await acquire_epoch(embedded)
    with pytest.raises(TransactionCancelled):
        await embedded.write(batch, token=token, at=START)
    assert await read_all(embedded, comments_after(ROOM_ID, SEQ_START)) == []


async def test_a_comment_restored_without_its_token_in_the_same_epoch_is_still_marked_as_deleted(store: Store) -> None:
    epoch = await open_room(store)
    batch = post_comments([comment(1)], epoch)
    await store.write(batch)
    await assert_refused(store, batch)
    deleted = await store.write(delete_comment(host_action(1), comment(1).comment_id, 1))
    await store.write(batch)
    assert await read_all(store, comments_after(ROOM_ID, SEQ_START)) == [comment(1)]
    mark = Mark.key(room_id=ROOM_ID, mark="DELETED", comment_id=comment(1).comment_id)
    assert await store.get(mark, strong=True) == deleted
