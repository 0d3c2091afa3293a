"""The most upvoted comments of a room."""

from heapq import nsmallest

from zataku.live.archive.messages import Question, Questions
from zataku.live.archive.room_cache import RoomCache
from zataku.live.design import Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.rules.views import comment_view
from zataku.system import AppContext

MAX_QUESTIONS = 50


class TopQuestions:
    """The most upvoted comments of rooms, cached for some seconds."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._comments = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._cache = RoomCache(context.clock, self._load)

    async def __call__(self, room_id: str) -> Questions:
        """The most upvoted visible comments of a room, the same for all viewers; of equal ones, the earlier first."""
        return await self._cache(await self._rooms.get(room_id))

    async def _load(self, room: Room) -> Questions:
        moderation = await self._moderation.state(room.room_id)
        votes = {it: count for it, count in moderation.votes.items() if not moderation.is_gone(it)}
        top = nsmallest(MAX_QUESTIONS, votes, key=lambda it: -votes[it])
        comments = (await self._comments.get_many(room.room_id, top)).values()
        # Read again, for comments that were hidden while these were fetched.
        moderation = await self._moderation.marks(room.room_id)
        visible = (it for it in comments if not moderation.is_gone(it.comment_id))
        return Questions(
            questions=[
                Question(
                    comment=comment_view(it, room.host_id),
                    votes=votes[it.comment_id],
                    answered=it.comment_id in moderation.answered,
                )
                for it in sorted(visible, key=lambda it: (-votes[it.comment_id], it.seq))
            ]
        )
