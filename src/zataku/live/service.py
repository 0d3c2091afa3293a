"""What people do with live rooms from outside: open one, look for it, read it, say something in it, close it."""

from collections.abc import Sequence
from typing import TypeVar

from zataku.errors import Conflict, NotFound
from zataku.live import messages as said
from zataku.live.design import Comment, Room
from zataku.live.errors import ROOM_CLOSED, busy, not_the_host
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import CreateRoomFunction, GetUserRoomsFunction
from zataku.live.limits import CommentId, HostId, RoomCode, RoomId, RoomName, Seq
from zataku.live.moderation.actions import MARKING
from zataku.live.moderation.moderator import Governing
from zataku.live.retracting import Retracting
from zataku.live.rules.room_state import RoomState
from zataku.live.views import blocked_sender, comment_view, log_view, reactions_view, room_view, standing_view
from zataku.platform.identity import Identity
from zataku.realtime.rooms.behaviour import StaleRoom
from zataku.system import AppContext

COMMENT_PAGE_SIZE = 200
OF_COMMENTS = frozenset({*MARKING.values(), "DELETE", "BLOCK_SENDER", "UNBLOCK_SENDER"})
"""Acts whose entry in the log names a comment."""

T = TypeVar("T")


class LiveRooms:
    """The use cases of live rooms. What changes a running room is asked of whichever process runs it."""

    def __init__(self, context: AppContext) -> None:
        self._create = CreateRoomFunction(context.store)
        self._rooms = GetUserRoomsFunction(context.store)
        self._read = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._retracting = Retracting(context.store)
        self._governing = Governing(context.store)
        self._house = context

    # Rooms

    async def open(self, host: Identity, name: RoomName) -> said.RoomView:
        """A presenter opens a room; who that is comes from the cookie, never from what was sent."""
        await self._house.ensure_account(host)
        host_id = HostId(host.account_id)
        made = await self._create(host_id, name, self._house.clock.now(), self._house.random)
        return room_view(made, host_id)

    async def mine(self, host: Identity, after: str | None) -> said.RoomList:
        """The rooms of a host, newest first."""
        host_id = HostId(host.account_id)
        page = await self._rooms(host_id, after)
        return said.RoomList(rooms=[room_view(it, host_id) for it in page.items], next=page.cursor)

    async def look(self, viewer: Identity, room_id: str) -> said.RoomView:
        """One room, open or closed."""
        return room_view(await self._rooms.one(room_id), HostId(viewer.account_id))

    async def behind(self, viewer: Identity, code: RoomCode) -> said.RoomList:
        """The open rooms that a code leads to: one, as a rule."""
        found = await self._rooms.by_code(code)
        if not found:
            raise NotFound("No open room has this number. Check it, or ask for the link.", code="no_such_code")
        return said.RoomList(rooms=[room_view(it, HostId(viewer.account_id)) for it in found])

    async def title(self, room_id: str) -> str | None:
        """The name of a room, for links to it; None when there is no such room."""
        try:
            return (await self._rooms.one(room_id)).name
        except NotFound:
            return None

    # Reading

    async def comments(self, viewer: Identity, room_id: str, after: Seq) -> said.CommentList:
        """What was said after a place, in the order of the room; in closed rooms, too."""
        room = await self._rooms.one(room_id)
        while True:
            page = await self._read(room.room_id, after, COMMENT_PAGE_SIZE)
            hidden = await self._hidden_from(viewer, room)
            shown, more = _shown(page.items, hidden), page.cursor is not None
            if shown or not more:
                return said.CommentList(comments=shown, more=more)
            # A page of which nothing is to be seen would leave its reader nowhere to go on from.
            after = page.items[-1].seq or after

    async def earlier(self, viewer: Identity, room_id: str, before: Seq) -> said.CommentList:
        """What was said before a place, in the order of the room."""
        room = await self._rooms.one(room_id)
        while True:
            page = await self._read.before(room.room_id, before, COMMENT_PAGE_SIZE)
            hidden = await self._hidden_from(viewer, room)
            shown, more = _shown(page.items[::-1], hidden), page.cursor is not None
            if shown or not more:
                return said.CommentList(comments=shown, more=more)
            before = page.items[-1].seq or before

    async def standing(self, room_id: str) -> said.ModerationStateView:
        """What became of the comments of a room."""
        room = await self._rooms.one(room_id)
        standing = await self._moderation.standing(room.room_id)
        pinned = await self._read.some(room.room_id, standing.pinned)
        reactions = reactions_view(await self._moderation.reactions(room.room_id))
        return standing_view(standing, pinned, reactions)

    async def moderation(self, viewer: Identity, room_id: str) -> said.HostView:
        """What only the host sees."""
        room = await self.hosted(viewer, room_id)
        blocks, log = await self._moderation(room.room_id)
        hidden = (await self._moderation.standing(room.room_id)).hidden
        named = [CommentId(it.subject) for it in log.items if it.subject is not None and it.action in OF_COMMENTS]
        meant = [*named, *hidden, *(it.comment_id for it in blocks if it.comment_id is not None)]
        about = await self._read.some(room.room_id, meant)
        senders = (blocked_sender(it, about.get(it.comment_id or CommentId(""))) for it in blocks)
        return said.HostView(
            log=[log_view(it, about.get(CommentId(it.subject or ""))) for it in log.items],
            words=[it.value for it in blocks if it.what == "WORD"],
            senders=[it for it in senders if it is not None],
            hidden=sorted((comment_view(about[it]) for it in hidden if it in about), key=lambda it: it.seq),
        )

    async def hosted(self, viewer: Identity, room_id: str) -> Room:
        """A room of the viewer's own."""
        room = await self._rooms.one(room_id)
        if room.host_id != HostId(viewer.account_id):
            raise not_the_host()
        return room

    # Doing

    async def say(self, who: Identity, room_id: str, say: said.PostComment) -> said.CommentView:
        """Somebody comments; answered when it is stored."""
        return await self._ask(who, room_id, say, said.CommentView)

    async def upvote(self, who: Identity, room_id: str, comment_id: CommentId) -> said.Upvoted:
        """Somebody wants a question answered."""
        return await self._ask(who, room_id, said.Upvote(comment_id=comment_id), said.Upvoted)

    async def take_back(self, who: Identity, room_id: str, comment_id: CommentId) -> said.CommentRemoved:
        """Somebody takes back what they just wrote; also when the room was closed since."""
        try:
            return await self._ask(who, room_id, said.RetractComment(comment_id=comment_id), said.CommentRemoved)
        except Conflict as refused:
            if refused.code != ROOM_CLOSED:
                raise
        try:
            return await self._retracting.removed(RoomId(room_id), who, comment_id, self._house.clock.now())
        except StaleRoom:
            raise busy() from None

    async def act(self, who: Identity, room_id: str, act: said.ModerationAction) -> said.ModerationResult:
        """The host does something in a room. Comments can be marked and deleted when it is over, too."""
        try:
            return await self._ask(who, room_id, act, said.ModerationResult)
        except Conflict as refused:
            if refused.code != ROOM_CLOSED:
                raise
        room = await self.hosted(who, room_id)
        standing = await self._moderation.standing(room.room_id)
        over = RoomState(room=room, epoch=room.epoch or 0, standing=standing)
        try:
            _, _, done = await self._governing.act(over, who, act, self._house.clock.now(), over=True)
        except StaleRoom:
            raise busy() from None
        return done

    async def close(self, who: Identity, room_id: str) -> said.RoomView:
        """The host closes a room, for good."""
        return await self._ask(who, room_id, said.CloseRoom(), said.RoomView)

    async def _ask(self, who: Identity, room_id: str, command: said.Command, answer: type[T]) -> T:
        return await self._house.rooms.ask(f"live/{room_id}", who, command, answer)

    async def _hidden_from(self, viewer: Identity, room: Room) -> frozenset[CommentId]:
        if room.host_id == HostId(viewer.account_id):
            return frozenset()
        return (await self._moderation.standing(room.room_id)).hidden


def _shown(found: Sequence[Comment], hidden: frozenset[CommentId]) -> list[said.CommentView]:
    return [comment_view(it) for it in found if it.comment_id not in hidden]
