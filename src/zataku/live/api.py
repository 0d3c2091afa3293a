"""HTTP routes of live rooms. The events of an open room come over its socket."""

from typing import Annotated, TypeAlias

from litestar import Router, delete, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, PathParameter, QueryParameter, SkipValidation
from litestar.types import ControllerRouterHandler

from zataku.live.limits import SEQ_FORM, SEQ_START, UUID_PATTERN, CommentId
from zataku.live.messages import (
    CommentList,
    CommentRemoved,
    CommentView,
    HostView,
    ModerationAction,
    ModerationResult,
    ModerationStateView,
    NewRoom,
    PostComment,
    RoomList,
    RoomView,
    Upvoted,
)
from zataku.live.service import LiveRooms
from zataku.platform.identity import Identity

Caller: TypeAlias = NamedDependency[SkipValidation[Identity]]
RoomPath: TypeAlias = Annotated[str, PathParameter(description="Id of the room", max_length=64)]
CommentPath: TypeAlias = Annotated[str, PathParameter(description="Id of the comment", pattern=UUID_PATTERN)]
CodePath: TypeAlias = Annotated[str, PathParameter(description="The short number of the room, six digits")]
After: TypeAlias = Annotated[str, QueryParameter(description="The `seq` of the last comment seen", pattern=SEQ_FORM)]
Before: TypeAlias = Annotated[
    str | None,
    QueryParameter(description="The `seq` of the first comment seen; then `after` is ignored", pattern=SEQ_FORM),
]
Next: TypeAlias = Annotated[str | None, QueryParameter(description="`next` of the page before", max_length=4096)]


def live_routes(rooms: LiveRooms) -> tuple[ControllerRouterHandler, ...]:
    """The routes under /api/live."""
    handlers = [*_room_routes(rooms), *_comment_routes(rooms), *_host_routes(rooms)]
    return (Router("/api/live", route_handlers=handlers, tags=["live"]),)


def _room_routes(rooms: LiveRooms) -> list[ControllerRouterHandler]:
    @post("/rooms", summary="Open a room")
    async def open_room(identity: Caller, data: JSONBody[NewRoom]) -> RoomView:
        """Open a room for a talk. The caller becomes its host."""
        return await rooms.open_room(identity, data.name)

    @get("/rooms", summary="My rooms")
    async def my_rooms(identity: Caller, after: Next = None) -> RoomList:
        """The caller's rooms, newest first."""
        return await rooms.rooms_of(identity, after)

    @get("/codes/{code:str}", summary="The room behind a number")
    async def rooms_with_code(identity: Caller, code: CodePath) -> RoomList:
        """The open room that a short number leads to; two, if they were opened at the same moment.

        Without one, the room that had the number last and has ended.
        """
        return await rooms.rooms_by_code(identity, code)

    @get("/rooms/{room_id:str}", summary="A room")
    async def one_room(identity: Caller, room_id: RoomPath) -> RoomView:
        """One room, open or closed."""
        return await rooms.room(identity, room_id)

    @get("/rooms/{room_id:str}/standing", summary="The moderation state of a room")
    async def room_standing(room_id: RoomPath) -> ModerationStateView:
        """The pinned, answered and removed comments, the upvotes, and the reactions."""
        return await rooms.moderation_state(room_id)

    return [open_room, my_rooms, rooms_with_code, one_room, room_standing]


def _comment_routes(rooms: LiveRooms) -> list[ControllerRouterHandler]:
    @get("/rooms/{room_id:str}/comments", summary="The comments of a room")
    async def room_comments(
        identity: Caller, room_id: RoomPath, after: After = SEQ_START, before: Before = None
    ) -> CommentList:
        """The comments after a `seq`, or before one, in the order of the room. The host also gets hidden comments."""
        if before is not None:
            return await rooms.comments_before(identity, room_id, before)
        return await rooms.comments_after(identity, room_id, after)

    @post("/rooms/{room_id:str}/comments", summary="Comment")
    async def post_comment(identity: Caller, room_id: RoomPath, data: JSONBody[PostComment]) -> CommentView:
        """Write a comment, without a socket. Sent again with the same `id` it is still one comment."""
        return await rooms.post_comment(identity, room_id, data)

    @delete("/rooms/{room_id:str}/comments/{comment_id:str}", summary="Take a comment back", status_code=200)
    async def retract_comment(identity: Caller, room_id: RoomPath, comment_id: CommentPath) -> CommentRemoved:
        """Delete a comment that the caller posted in the last 60 seconds."""
        return await rooms.retract_comment(identity, room_id, CommentId(comment_id))

    @post("/rooms/{room_id:str}/comments/{comment_id:str}/upvote", summary="Upvote", status_code=200)
    async def upvote(identity: Caller, room_id: RoomPath, comment_id: CommentPath) -> Upvoted:
        """Upvote a comment of somebody else, once."""
        return await rooms.upvote(identity, room_id, CommentId(comment_id), on=True)

    @delete("/rooms/{room_id:str}/comments/{comment_id:str}/upvote", summary="Take an upvote back", status_code=200)
    async def withdraw_upvote(identity: Caller, room_id: RoomPath, comment_id: CommentPath) -> Upvoted:
        """Take the caller's upvote of a comment back."""
        return await rooms.upvote(identity, room_id, CommentId(comment_id), on=False)

    return [room_comments, post_comment, retract_comment, upvote, withdraw_upvote]


def _host_routes(rooms: LiveRooms) -> list[ControllerRouterHandler]:
    @get("/rooms/{room_id:str}/moderation", summary="The host's view")
    async def room_moderation(identity: Caller, room_id: RoomPath) -> HostView:
        """The log, the blocks, and the hidden comments. Only for the host."""
        return await rooms.host_view(identity, room_id)

    @post("/rooms/{room_id:str}/acts", summary="Moderate", status_code=200)
    async def moderate(identity: Caller, room_id: RoomPath, data: JSONBody[ModerationAction]) -> ModerationResult:
        """Hide, pin, answer or delete a comment, pause or slow the room, block a word or a sender. Only for the host.

        Comments of a closed room can be marked and deleted, too.
        """
        return await rooms.moderate(identity, room_id, data)

    @post("/rooms/{room_id:str}/close", summary="Close a room", status_code=200)
    async def close_room(identity: Caller, room_id: RoomPath) -> RoomView:
        """Close a room for good. Only its host may."""
        return await rooms.close_room(identity, room_id)

    return [room_moderation, moderate, close_room]
