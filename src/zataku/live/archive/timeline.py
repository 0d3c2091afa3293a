"""When how much was said in a talk, and how many people said it."""

from collections.abc import Sequence

from zataku.live.archive.reading import pages
from zataku.live.archive.room_cache import RoomCache
from zataku.live.design import Comment, Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import SenderId, Seq, instant_seconds
from zataku.live.messages import Timeline, TimelinePart
from zataku.live.moderation.design import Reactions
from zataku.live.rules.moderation_state import Marked
from zataku.live.views import reactions_view
from zataku.system import AppContext
from zataku.table import InstantMs

PARTS = 120
"""The most parts of a talk: more could not be told apart on a phone."""
_MINUTE = 60


class TimelineBuilder:
    """The parts of a talk while it is read through. Whenever there would be too many, each two become one."""

    def __init__(self, begin: InstantMs) -> None:
        self.begin = self.end = begin
        self.part_seconds = 1
        self._zero = instant_seconds(begin)
        self._counts = [0]
        self._firsts: list[Seq | None] = [None]

    def add(self, comment: Comment) -> None:
        """Count one more. A clock that was set back between two owners does not lead before the beginning."""
        self.end = max(self.end, comment.created_at)
        second = max(0, int(instant_seconds(comment.created_at) - self._zero))
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
            start = int(instant_seconds(minute.minute) - self._zero)
            amount, given = minute.clap + minute.aha + minute.lol, 0
            last = self._part_at(start + _MINUTE - 1)
            for part in range(self._part_at(start), last + 1):
                passed = _MINUTE if part == last else (part + 1) * self.part_seconds - start
                due = amount * passed // _MINUTE
                reacted[part] += due - given
                given = due
        return [
            TimelinePart(comments=count, reactions=amount, seq=seq)
            for count, amount, seq in zip(self._counts, reacted, self._firsts, strict=True)
        ]

    def _part_at(self, second: int) -> int:
        """The part of a moment; the first or last one for what came before or after all comments."""
        return min(max(0, second // self.part_seconds), len(self._counts) - 1)


class Timelines:
    """The timelines of rooms. The whole room is read for one, and all who look at it after the talk share it."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._read = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._shared = RoomCache(context.clock, self._made)

    async def __call__(self, room_id: str) -> Timeline:
        """The timeline of a room, without what is hidden, the same for everybody."""
        return await self._shared(await self._rooms.one(room_id))

    async def _made(self, room: Room) -> Timeline:
        before = await self._hidden(room)
        made = await self._counted(room, before)
        now = await self._hidden(room)
        # Of a comment that was hidden meanwhile, its part and its sender are not known any more: all is counted again.
        return made if now <= before else await self._counted(room, now)

    async def _hidden(self, room: Room) -> Marked:
        return (await self._moderation.standing(room.room_id)).hidden

    async def _counted(self, room: Room, hidden: Marked) -> Timeline:
        reactions = await self._moderation.reactions(room.room_id)
        strip: TimelineBuilder | None = None
        people: set[SenderId | None] = set()
        comments = 0
        async for page, _ in pages(self._read, room.room_id):
            shown = [it for it in page if it.comment_id not in hidden]
            for comment in shown:
                strip = strip or TimelineBuilder(comment.created_at)
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
