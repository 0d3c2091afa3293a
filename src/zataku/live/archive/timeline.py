"""The timeline of a room: how many comments and reactions each part of the talk has, and how many senders."""

from collections.abc import Sequence

from zataku.clock import instant_seconds
from zataku.live.archive.messages import Timeline, TimelinePart
from zataku.live.archive.room_cache import RoomCache
from zataku.live.design import Comment, Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import CommentId, SenderId, Seq
from zataku.live.moderation.design import Reactions
from zataku.live.rules.views import reactions_view
from zataku.system import AppContext
from zataku.table import InstantMs

MAX_PARTS = 120
"""More parts could not be distinguished on a phone."""
_MINUTE_SECONDS = 60


class TimelineBuilder:
    """Counts comments by parts of equal length. When there would be too many parts, their length is doubled."""

    def __init__(self, begin: InstantMs) -> None:
        self.begin = self.end = begin
        self.part_seconds = 1
        self._begin_seconds = instant_seconds(begin)
        self._counts = [0]
        self._firsts: list[Seq | None] = [None]

    def add(self, comment: Comment) -> None:
        """Count a comment. One from before the beginning, by a clock that was set back, counts in the first part."""
        self.end = max(self.end, comment.created_at)
        second = max(0, int(instant_seconds(comment.created_at) - self._begin_seconds))
        while second // self.part_seconds >= MAX_PARTS:
            self._double_length()
        part = second // self.part_seconds
        missing = part + 1 - len(self._counts)
        self._counts += [0] * missing
        self._firsts += [None] * missing
        self._counts[part] += 1
        self._firsts[part] = self._firsts[part] or comment.seq

    def _double_length(self) -> None:
        pairs = range(0, len(self._counts), 2)
        self._counts = [sum(self._counts[at : at + 2]) for at in pairs]
        self._firsts = [next(filter(None, self._firsts[at : at + 2]), None) for at in pairs]
        self.part_seconds *= 2

    def parts(self, reactions: Sequence[Reactions]) -> list[TimelinePart]:
        """All parts. The reactions of a minute are spread over its parts by the seconds that each has of it."""
        reaction_counts = [0] * len(self._counts)
        for minute in reactions:
            start = int(instant_seconds(minute.minute) - self._begin_seconds)
            total, assigned = minute.clap + minute.aha + minute.lol, 0
            last = self._part_at(start + _MINUTE_SECONDS - 1)
            for part in range(self._part_at(start), last + 1):
                passed = _MINUTE_SECONDS if part == last else (part + 1) * self.part_seconds - start
                due = total * passed // _MINUTE_SECONDS
                reaction_counts[part] += due - assigned
                assigned = due
        return [
            TimelinePart(comments=count, reactions=reactions_of_part, seq=seq)
            for count, reactions_of_part, seq in zip(self._counts, reaction_counts, self._firsts, strict=True)
        ]

    def _part_at(self, second: int) -> int:
        """The part of a second; the first or last one when it is before or after all comments."""
        return min(max(0, second // self.part_seconds), len(self._counts) - 1)


class Timelines:
    """The timelines of rooms, cached for some seconds: the whole room is read for one."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._comments = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._cache = RoomCache(context.clock, self._load)

    async def __call__(self, room_id: str) -> Timeline:
        """The timeline of a room without hidden comments, the same for all viewers."""
        return await self._cache(await self._rooms.get(room_id))

    async def _load(self, room: Room) -> Timeline:
        before = await self._hidden(room)
        timeline = await self._build(room, before)
        now = await self._hidden(room)
        # A comment hidden during the build cannot be subtracted: its part and its sender are not recorded.
        return timeline if now <= before else await self._build(room, now)

    async def _hidden(self, room: Room) -> frozenset[CommentId]:
        return (await self._moderation.marks(room.room_id)).hidden

    async def _build(self, room: Room, hidden: frozenset[CommentId]) -> Timeline:
        reactions = await self._moderation.reactions(room.room_id)
        builder: TimelineBuilder | None = None
        senders: set[SenderId | None] = set()
        comments = 0
        async for page, _ in self._comments.pages(room.room_id):
            visible = [it for it in page if it.comment_id not in hidden]
            for comment in visible:
                builder = builder or TimelineBuilder(comment.created_at)
                builder.add(comment)
                senders.add(comment.sender_id)
            comments += len(visible)
        return Timeline(
            begin=builder.begin if builder else room.created_at,
            end=builder.end if builder else room.created_at,
            part_seconds=builder.part_seconds if builder else 1,
            parts=builder.parts(reactions) if builder else [],
            comments=comments,
            people=len(senders),
            reactions=reactions_view(reactions),
        )
