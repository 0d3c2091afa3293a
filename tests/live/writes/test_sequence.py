"""Readers that resume get all comments in order while owners change, replies are lost and comments are deleted."""

import asyncio
from collections import deque
from contextlib import suppress
from itertools import count
from random import Random

import pytest

from tests.live.entities import HALL, SORA, act, all_of, opened_room, owned, refused, said
from tests.support.stores import START
from zataku.clock import ManualClock
from zataku.live.design import Comment, comments_after, room_now
from zataku.live.limits import SEQ_START, CommentId
from zataku.live.moderation.design import Mark
from zataku.live.moderation.writes import delete_comment
from zataku.live.writes import post_comments, remove_own_comment
from zataku.table import Plan, ResultUnknown, Store, TransactionCancelled

WORDS = [f"コメント {number}" for number in range(60)]


class ContestedRoom:
    """The comments of the hall: still to be posted, acknowledged, and deleted by the host."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.random = Random(11)
        self.salts = count(1)
        self.unsaid = deque(WORDS)
        self.acknowledged: list[Comment] = []
        self.deleted: set[CommentId] = set()
        self.late: list[asyncio.Task[None]] = []
        self.over = False

    async def after(self, seen: list[Comment]) -> list[Comment]:
        return await all_of(self.store, comments_after(HALL, seen[-1].seq if seen else SEQ_START))

    async def read(self) -> list[Comment]:
        """Read to the end of the room, resuming after the last comment seen."""
        seen: list[Comment] = []
        while not self.over:
            seen += await self.after(seen)
            await asyncio.sleep(0)
        return seen + await self.after(seen)

    async def pause(self) -> None:
        """Let other tasks run for some turns of the event loop."""
        for _ in range(self.random.randrange(30)):
            await asyncio.sleep(0)

    async def delete_newest(self) -> None:
        *_, newest = await self.after([])
        deed = len(self.deleted) + 1
        while newest.comment_id not in self.deleted:
            hall = await self.store.get(room_now(HALL))
            assert hall is not None
            deleting = delete_comment(act(deed), newest.comment_id, hall.epoch)
            # The host's action goes through the owner, and another process may have acquired the room meanwhile.
            with suppress(TransactionCancelled):
                await self.store.write(deleting, token=f"delete-{deed}-{hall.epoch}")
                self.deleted.add(newest.comment_id)


class Owner:
    """A process that repeats a tick of unknown outcome, or acquires the room again."""

    def __init__(self, talk: ContestedRoom, repeats: bool) -> None:
        self.talk = talk
        self.repeats = repeats
        self.epoch = self.given = 0

    async def take(self) -> None:
        self.epoch, self.given = await owned(self.talk.store), 0

    async def hold(self) -> None:
        """Own the hall until another process does, or all comments are posted."""
        await self.take()
        while self.talk.unsaid:
            words = [self.talk.unsaid.popleft() for _ in range(min(3, len(self.talk.unsaid)))]
            tick = [
                said(self.given + at, word, salt=next(self.talk.salts), epoch=self.epoch)
                for at, word in enumerate(words, 1)
            ]
            self.given += len(tick)
            try:
                written = await self._written(tick)
            except TransactionCancelled:
                self.talk.unsaid.extend(words)
                return
            if written:
                self.talk.acknowledged += tick
            else:
                self.talk.unsaid.extend(words)

    async def _written(self, tick: list[Comment]) -> bool:
        plan, token = post_comments(tick, self.epoch), f"tick-{tick[0].seq}" if self.repeats else None
        try:
            if self.talk.random.random() < 0.4:
                self.talk.late.append(asyncio.create_task(self._under_way(plan, token)))
                if not self.repeats:
                    raise ResultUnknown("Nothing was heard of it.")
                await self.talk.pause()
            await self.talk.store.write(plan, token=token, at=START)
        except ResultUnknown:
            await self.take()
            traces = [Comment.key(room_id=HALL, comment_id=one.comment_id) for one in tick]
            marks = [Mark.key(room_id=HALL, mark="DELETED", comment_id=one.comment_id) for one in tick]
            return any(await self.talk.store.get_many([*traces, *marks], strong=True))
        return True

    async def _under_way(self, plan: Plan[Comment], token: str | None) -> None:
        """A delayed attempt to write whose reply is lost."""
        await self.talk.pause()
        await self.talk.store.write(plan, token=token, at=START)


async def test_readers_see_every_acknowledged_comment_once_and_in_one_order(contested: Store) -> None:
    await opened_room(contested)
    talk = ContestedRoom(contested)
    readers = [asyncio.create_task(talk.read()) for _ in range(2)]
    owners: list[asyncio.Task[None]] = []
    while talk.unsaid or not all(owner.done() for owner in owners):
        owners.append(asyncio.create_task(Owner(talk, repeats=len(owners) % 2 == 0).hold()))
        wanted = len(talk.acknowledged) + 9
        while len(talk.acknowledged) < wanted and not owners[-1].done():
            await asyncio.sleep(0)
        if talk.unsaid:
            await talk.delete_newest()
        else:
            await asyncio.gather(*owners)
    await asyncio.gather(*talk.late, return_exceptions=True)
    talk.over = True

    there = await talk.after([])
    for seen in await asyncio.gather(*readers):
        assert [one for one in seen if one.comment_id not in talk.deleted] == there
        talk.acknowledged += seen
    assert {one.seq for one in talk.acknowledged if one.comment_id not in talk.deleted} == {one.seq for one in there}
    by_id = {one.comment_id: one for one in talk.acknowledged}
    assert sorted(one.content for one in by_id.values()) == sorted(WORDS)
    assert len({one.seq for one in by_id.values()}) == len(by_id)
    assert len({one.seq[:5] for one in there}) > 3
    assert talk.deleted
    assert talk.late


async def test_an_owner_that_lost_its_room_cannot_write(contested: Store) -> None:
    old = await opened_room(contested)
    await contested.write(post_comments([said(number, epoch=old) for number in (1, 2, 3)], old), token="before")

    async def old_owner() -> None:
        for number in range(4, 24):
            await contested.write(post_comments([said(number, "old", epoch=old)], old), token=f"old-{number}")

    async def new_owner() -> list[Comment]:
        epoch = await owned(contested)
        mine = [said(number, "new", salt=1, epoch=epoch) for number in range(1, 6)]
        for one in mine:
            await contested.write(post_comments([one], epoch), token=f"new-{one.seq}")
        return mine

    stale, mine = await asyncio.gather(old_owner(), new_owner(), return_exceptions=True)
    assert isinstance(stale, TransactionCancelled)
    found = await all_of(contested, comments_after(HALL, SEQ_START))
    assert found[-5:] == mine
    assert [one.seq for one in found[:-5]] == [said(at, epoch=old).seq for at in range(1, len(found) - 4)]


async def test_a_reader_misses_nothing_though_the_newest_comments_were_deleted_before_a_takeover(
    contested: Store,
) -> None:
    epoch = await opened_room(contested)
    before = [said(number, epoch=epoch) for number in range(1, 11)]
    await contested.write(post_comments(before, epoch), token="before")
    await contested.write(delete_comment(act(1), before[9].comment_id, 1), token="by the host")
    await contested.write(remove_own_comment(HALL, before[8].comment_id, SORA, START, 1), token="by its writer")
    epoch = await owned(contested)
    following = said(1, salt=1, epoch=epoch)
    await contested.write(post_comments([following], epoch), token="after")
    assert await all_of(contested, comments_after(HALL, before[9].seq)) == [following]


async def test_a_tick_repeated_with_its_token_restores_no_deleted_comment(contested: Store) -> None:
    epoch = await opened_room(contested)
    tick = post_comments([said(1, epoch=epoch)], epoch)
    await contested.write(tick, token="tick", at=START)
    await contested.write(delete_comment(act(1), said(1).comment_id, 1), token="delete")
    await contested.write(tick, token="tick", at=START)
    assert await all_of(contested, comments_after(HALL, SEQ_START)) == []


@pytest.mark.parametrize("token", [None, "tick"])
async def test_a_tick_whose_token_expired_is_refused_after_the_room_was_acquired_again(
    embedded: Store, clock: ManualClock, token: str | None
) -> None:
    epoch = await opened_room(embedded)
    tick = post_comments([said(1)], epoch)
    await embedded.write(tick, token=token, at=START)
    await embedded.write(delete_comment(act(1), said(1).comment_id, 1))
    await clock.advance(601)
    await owned(embedded)
    with pytest.raises(TransactionCancelled):
        await embedded.write(tick, token=token, at=START)
    assert await all_of(embedded, comments_after(HALL, SEQ_START)) == []


async def test_a_comment_restored_without_its_token_in_the_same_epoch_is_still_marked_as_deleted(store: Store) -> None:
    epoch = await opened_room(store)
    tick = post_comments([said(1)], epoch)
    await store.write(tick)
    await refused(store, tick)
    gone = await store.write(delete_comment(act(1), said(1).comment_id, 1))
    await store.write(tick)
    assert await all_of(store, comments_after(HALL, SEQ_START)) == [said(1)]
    mark = Mark.key(room_id=HALL, mark="DELETED", comment_id=said(1).comment_id)
    assert await store.get(mark, strong=True) == gone
