"""Live rooms over HTTP. What happens in a room while it is open comes over its socket."""

from typing import Annotated, TypeAlias

from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, PathParameter, QueryParameter, SkipValidation
from litestar.types import ControllerRouterHandler

from zataku.live.limits import BEFORE_ALL, SEQ_FORM
from zataku.live.messages import CommentList, CommentView, NewRoom, RoomList, RoomView, Say
from zataku.live.service import LiveRooms
from zataku.platform.identity import Identity

Who: TypeAlias = NamedDependency[SkipValidation[Identity]]
RoomPath: TypeAlias = Annotated[str, PathParameter(description="Id of the room", max_length=64)]
After: TypeAlias = Annotated[str, QueryParameter(description="The `seq` of the last comment seen", pattern=SEQ_FORM)]
Next: TypeAlias = Annotated[str | None, QueryParameter(description="`next` of the page before", max_length=4096)]


def live_routes(rooms: LiveRooms) -> tuple[ControllerRouterHandler, ...]:
    """The routes under /api/live."""

    @post("/rooms", summary="Open a room")
    async def open_room(identity: Who, data: JSONBody[NewRoom]) -> RoomView:
        """Open a room for a talk. Whoever opens it is its host."""
        return await rooms.open(identity, data.name)

    @get("/rooms", summary="My rooms")
    async def my_rooms(identity: Who, after: Next = None) -> RoomList:
        """The caller's rooms, newest first."""
        return await rooms.mine(identity, after)

    @get("/rooms/{room_id:str}", summary="A room")
    async def one_room(identity: Who, room_id: RoomPath) -> RoomView:
        """One room, open or closed."""
        return await rooms.look(identity, room_id)

    @get("/rooms/{room_id:str}/comments", summary="The comments of a room")
    async def room_comments(room_id: RoomPath, after: After = BEFORE_ALL) -> CommentList:
        """What was said after a place, in the order of the room."""
        return await rooms.comments(room_id, after)

    @post("/rooms/{room_id:str}/comments", summary="Comment")
    async def say(identity: Who, room_id: RoomPath, data: JSONBody[Say]) -> CommentView:
        """Write a comment, without a socket."""
        return await rooms.say(identity, room_id, data)

    @post("/rooms/{room_id:str}/close", summary="Close a room", status_code=200)
    async def close_room(identity: Who, room_id: RoomPath) -> RoomView:
        """Close a room for good. Only its host may."""
        return await rooms.close(identity, room_id)

    handlers = [open_room, my_rooms, one_room, room_comments, say, close_room]
    return (Router("/api/live", route_handlers=handlers, tags=["live"]),)
