"""What people wanted to know most."""

from heapq import nsmallest

from zataku.live.archive.messages import Question, Questions
from zataku.live.archive.room_cache import RoomCache
from zataku.live.design import Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.views import comment_view
from zataku.system import AppContext

MOST = 50


class TopQuestions:
    """Finds the questions of a room that most people upvoted."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._read = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._shared = RoomCache(context.clock, self._made)

    async def __call__(self, room_id: str) -> Questions:
        """The most upvoted of a room, without what is hidden, the same for everybody; of equal ones, the earlier."""
        return await self._shared(await self._rooms.one(room_id))

    async def _made(self, room: Room) -> Questions:
        standing = await self._moderation.standing(room.room_id)
        votes = {it: count for it, count in standing.votes.items() if not standing.is_gone(it)}
        first = nsmallest(MOST, votes, key=lambda it: -votes[it])
        found = (await self._read.some(room.room_id, first)).values()
        # Once more, for what was hidden while the comments were fetched.
        standing = await self._moderation.standing(room.room_id)
        shown = (it for it in found if not standing.is_gone(it.comment_id))
        wanted = sorted(shown, key=lambda it: (-votes[it.comment_id], it.seq))
        answered = standing.answered
        return Questions(
            questions=[
                Question(comment=comment_view(it), votes=votes[it.comment_id], answered=it.comment_id in answered)
                for it in wanted
            ]
        )
