"""When how much was said in a talk, and how many people said it."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakValueDictionary

import msgspec

from zataku.live.after.reading import pages
from zataku.live.design import Comment, Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import RoomId, SenderId, Seq, seconds_at
from zataku.live.messages import Timeline, TimelinePart
from zataku.live.moderation import Reactions
from zataku.live.showing import reactions_view
from zataku.system import House
from zataku.table.forms import InstantMs

PARTS = 120
"""The most parts of a talk: more could not be told apart on a phone."""
KEPT = 64
KEPT_SECONDS = 10.0
"""The whole room is read for a timeline; everybody who looks at it after the talk shares one."""


class Strip:
    """The parts of a talk while it is read through. Whenever there would be too many, each two become one."""

    def __init__(self, begin: InstantMs) -> None:
        self.begin = self.end = begin
        self.part_seconds = 1
        self._zero = seconds_at(begin)
        self._counts = [0]
        self._firsts: list[Seq | None] = [None]

    def add(self, comment: Comment) -> None:
        """Count one more. A clock that was set back between two owners does not lead before the beginning."""
        self.end = max(self.end, comment.created_at)
        second = max(0, int(seconds_at(comment.created_at) - self._zero))
        while second // self.part_seconds >= PARTS:
            self._fold()
        part = second // self.part_seconds
        lacking = part + 1 - len(self._counts)
        self._counts += [0] * lacking
        self._firsts += [None] * lacking
        self._counts[part] += 1
        self._firsts[part] = self._firsts[part] or comment.seq

    def _fold(self) -> None:
        pairs = range(0, len(self._counts), 2)
        self._counts = [sum(self._counts[at : at + 2]) for at in pairs]
        self._firsts = [next(filter(None, self._firsts[at : at + 2]), None) for at in pairs]
        self.part_seconds *= 2

    def parts(self, reactions: Sequence[Reactions]) -> list[TimelinePart]:
        """All parts. Reactions are known by the minute, and spread over the parts of theirs as far as they share it."""
        reacted = [0] * len(self._counts)
        for minute in reactions:
            start = int(seconds_at(minute.minute) - self._zero)
            amount, given = minute.clap + minute.aha + minute.lol, 0
            for second in range(1, 61):
                due = amount * second // 60
                reacted[self._part_at(start + second - 1)] += due - given
                given = due
        return [
            TimelinePart(comments=count, reactions=amount, seq=seq)
            for count, amount, seq in zip(self._counts, reacted, self._firsts, strict=True)
        ]

    def _part_at(self, second: int) -> int:
        """The part of a moment; the first or last one for what came before or after all comments."""
        return min(max(0, second // self.part_seconds), len(self._counts) - 1)


class _Kept(msgspec.Struct, frozen=True):
    """A timeline for a while, of a room that has not changed since."""

    timeline: Timeline
    until: float
    of: InstantMs


class Timelines:
    """The timelines of rooms, worked out once for all who ask in the same moments."""

    def __init__(self, house: House) -> None:
        self._rooms = GetUserRoomsFunction(house.store)
        self._read = GetRoomCommentsFunction(house.store)
        self._moderation = GetRoomModerationFunction(house.store)
        self._clock = house.clock
        self._kept: OrderedDict[RoomId, _Kept] = OrderedDict()
        self._locks: WeakValueDictionary[RoomId, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, room_id: str) -> Timeline:
        """The timeline of a room, without what is hidden, the same for everybody."""
        room = await self._rooms.one(room_id)
        lock = self._locks.setdefault(room.room_id, asyncio.Lock())
        async with lock:
            kept = self._kept.get(room.room_id)
            if kept is None or kept.until <= self._clock.now() or kept.of != room.updated_at:
                made = await self._made(room)
                kept = _Kept(made, self._clock.now() + KEPT_SECONDS, room.updated_at)
                self._kept[room.room_id] = kept
            self._kept.move_to_end(room.room_id)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return kept.timeline

    async def _made(self, room: Room) -> Timeline:
        hidden = (await self._moderation.standing(room.room_id)).hidden
        reactions = await self._moderation.reactions(room.room_id)
        strip: Strip | None = None
        people: set[SenderId | None] = set()
        comments = 0
        async for page, _ in pages(self._read, room.room_id):
            shown = [it for it in page if it.comment_id not in hidden]
            for comment in shown:
                strip = strip or Strip(comment.created_at)
                strip.add(comment)
                people.add(comment.sender_id)
            comments += len(shown)
        return Timeline(
            begin=strip.begin if strip else room.created_at,
            end=strip.end if strip else room.created_at,
            part_seconds=strip.part_seconds if strip else 1,
            parts=strip.parts(reactions) if strip else [],
            comments=comments,
            people=len(people),
            reactions=reactions_view(reactions),
        )
