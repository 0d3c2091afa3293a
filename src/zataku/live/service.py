"""Use cases of live rooms for HTTP: open, find, read and close a room, comment in it and moderate it."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from zataku.errors import Conflict, NotFound
from zataku.live import messages
from zataku.live.archive.room_cache import RoomCache
from zataku.live.demo import DEMO_ROOM
from zataku.live.design import Comment, Room
from zataku.live.errors import ROOM_CLOSED, code_not_found, malformed_code, not_the_host, room_busy
from zataku.live.functions.comments import GetRoomCommentsFunction, RemoveCommentFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import CreateRoomFunction, GetUserRoomsFunction
from zataku.live.limits import CODE_FORM, SIX_DIGITS, CommentId, HostId, RoomId, RoomName, SenderId, Seq
from zataku.live.moderation.actions import COMMENT_ACTIONS
from zataku.live.moderation.moderator import Moderator
from zataku.live.rules.room_state import RoomState
from zataku.live.rules.views import (
    blocked_sender,
    comment_view,
    log_view,
    moderation_state_view,
    most_upvoted,
    reactions_view,
    room_view,
)
from zataku.platform.identity import Identity
from zataku.realtime.rooms.behaviour import StaleRoom
from zataku.system import AppContext

COMMENT_PAGE_SIZE = 200

T = TypeVar("T")


class _Counts(msgspec.Struct, frozen=True):
    """What the audience of a room has counted: everybody can add to it, so that it is not read for each caller."""

    votes: Mapping[CommentId, int]
    reactions: messages.Reactions


class LiveRooms:
    """The use cases of live rooms. Commands that change an open room go to the process that owns it."""

    def __init__(self, context: AppContext) -> None:
        self._create = CreateRoomFunction(context.store)
        self._rooms = GetUserRoomsFunction(context.store)
        self._comments = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._remove = RemoveCommentFunction(context.store)
        self._moderator = Moderator(context.store)
        self._counts = RoomCache(context.clock, self._load_counts)
        self._context = context

    # Rooms

    async def open_room(self, host: Identity, name: RoomName) -> messages.RoomView:
        """Open a room. Its host is the caller."""
        await self._context.ensure_account(host)
        host_id = HostId(host.account_id)
        now, random = self._context.clock.now(), self._context.random
        room = await self._create(host_id, name, now, random, host_name=host.name)
        return room_view(room, host_id)

    async def rooms_of(self, host: Identity, after: str | None) -> messages.RoomList:
        """A page of the host's rooms, newest first; the first page has the room of the demo, too."""
        host_id = HostId(host.account_id)
        page = await self._rooms(host_id, after)
        demo = await self._rooms.find_open(DEMO_ROOM) if after is None else None
        return messages.RoomList(
            rooms=[room_view(it, host_id) for it in page.items],
            next=page.cursor,
            demo=None if demo is None else room_view(demo, host_id),
        )

    async def room(self, viewer: Identity, room_id: str) -> messages.RoomView:
        """One room, open or closed."""
        return room_view(await self._rooms.get(room_id), HostId(viewer.account_id))

    async def rooms_by_code(self, viewer: Identity, typed: str) -> messages.RoomList:
        """The open rooms with a code: one, unless two were opened at the same moment. Without one, the ended room."""
        if not re.search(SIX_DIGITS, typed):
            raise malformed_code()
        # No code begins with a zero.
        rooms = await self._rooms.by_code(typed) if re.search(CODE_FORM, typed) else []
        if not rooms:
            raise code_not_found()
        return messages.RoomList(rooms=[room_view(it, HostId(viewer.account_id)) for it in rooms])

    async def title(self, room_id: str) -> str | None:
        """The name of a room for the title of its pages; None when there is no such room."""
        try:
            return (await self._rooms.get(room_id)).name
        except NotFound:
            return None

    # Reading

    async def comments_after(self, viewer: Identity, room_id: str, after: Seq) -> messages.CommentList:
        """A page of the comments after a `seq`, in order."""
        room = await self._rooms.get(room_id)
        while True:
            page = await self._comments(room.room_id, after, COMMENT_PAGE_SIZE)
            hidden = await self._hidden_from(viewer, room)
            visible, has_more = _visible(page.items, room, hidden), page.cursor is not None
            if visible or not has_more:
                return messages.CommentList(comments=visible, more=has_more)
            # A page without a visible comment would give its reader no `seq` to continue from.
            after = page.items[-1].seq or after

    async def comments_before(self, viewer: Identity, room_id: str, before: Seq) -> messages.CommentList:
        """A page of the comments before a `seq`, in order."""
        room = await self._rooms.get(room_id)
        while True:
            page = await self._comments.before(room.room_id, before, COMMENT_PAGE_SIZE)
            hidden = await self._hidden_from(viewer, room)
            visible, has_more = _visible(page.items[::-1], room, hidden), page.cursor is not None
            if visible or not has_more:
                return messages.CommentList(comments=visible, more=has_more)
            before = page.items[-1].seq or before

    async def moderation_state(self, room_id: str) -> messages.ModerationStateView:
        """The pinned, answered and removed comments of a room; its upvotes and reactions may be some seconds old."""
        room = await self._rooms.get(room_id)
        counts = await self._counts(room)
        marks = await self._moderation.marks(room.room_id)
        votes = {it: count for it, count in counts.votes.items() if it not in marks.deleted}
        pinned = await self._comments.get_many(room.room_id, marks.pinned)
        return moderation_state_view(replace(marks, votes=votes), pinned, counts.reactions, room.host_id)

    async def _load_counts(self, room: Room) -> _Counts:
        votes = {it.comment_id: it.votes for it in await self._moderation.all_votes(room.room_id)}
        reactions = await self._moderation.reactions(room.room_id)
        return _Counts(votes=most_upvoted(votes), reactions=reactions_view(reactions))

    async def host_view(self, viewer: Identity, room_id: str) -> messages.HostView:
        """The log, the blocks and the hidden comments of a room, for its host."""
        room = await self._hosted_room(viewer, room_id)
        blocks = await self._moderation.blocks(room.room_id)
        log = await self._moderation.log(room.room_id)
        hidden = (await self._moderation.marks(room.room_id)).hidden
        logged = [CommentId(it.subject) for it in log.items if it.subject is not None and it.action in COMMENT_ACTIONS]
        blocked = [it.comment_id for it in blocks if it.comment_id is not None]
        comments = await self._comments.get_many(room.room_id, [*logged, *hidden, *blocked])
        senders = (blocked_sender(it, comments.get(it.comment_id or CommentId(""))) for it in blocks)
        return messages.HostView(
            log=[log_view(it, comments.get(CommentId(it.subject or ""))) for it in log.items],
            words=[it.value for it in blocks if it.what == "WORD"],
            senders=[it for it in senders if it is not None],
            hidden=sorted(
                (comment_view(comments[it], room.host_id) for it in hidden if it in comments), key=lambda it: it.seq
            ),
        )

    async def _hosted_room(self, viewer: Identity, room_id: str) -> Room:
        room = await self._rooms.get(room_id)
        if room.host_id != HostId(viewer.account_id):
            raise not_the_host()
        return room

    async def _hidden_from(self, viewer: Identity, room: Room) -> frozenset[CommentId]:
        if room.host_id == HostId(viewer.account_id):
            return frozenset()
        return (await self._moderation.marks(room.room_id)).hidden

    # Commands

    async def post_comment(self, sender: Identity, room_id: str, comment: messages.PostComment) -> messages.CommentView:
        """Post a comment; the reply comes when it is stored."""
        return await self._ask(sender, room_id, comment, messages.CommentView)

    async def upvote(self, sender: Identity, room_id: str, comment_id: CommentId, *, on: bool) -> messages.Upvoted:
        """Upvote a comment, or take the upvote back."""
        return await self._ask(sender, room_id, messages.Upvote(comment_id=comment_id, on=on), messages.Upvoted)

    async def retract_comment(self, sender: Identity, room_id: str, comment_id: CommentId) -> messages.CommentRemoved:
        """Delete a comment of the sender, within a minute; also when the room was closed since."""
        command = messages.RetractComment(comment_id=comment_id)
        try:
            return await self._ask(sender, room_id, command, messages.CommentRemoved)
        except Conflict as refused:
            if refused.code != ROOM_CLOSED:
                raise
        try:
            await self._remove(
                RoomId(room_id), comment_id, SenderId(sender.account_id), self._context.clock.now(), None
            )
        except StaleRoom:
            raise room_busy() from None
        return messages.CommentRemoved(comment_id=comment_id, deleted=True)

    async def moderate(
        self, sender: Identity, room_id: str, action: messages.ModerationAction
    ) -> messages.ModerationResult:
        """Execute an action of the host. Comments of a closed room can still be marked and deleted."""
        try:
            return await self._ask(sender, room_id, action, messages.ModerationResult)
        except Conflict as refused:
            if refused.code != ROOM_CLOSED:
                raise
        room = await self._hosted_room(sender, room_id)
        state = RoomState(room=room, epoch=room.epoch or 0, moderation=await self._moderation.state(room.room_id))
        try:
            outcome = await self._moderator.execute(state, sender, action, self._context.clock.now(), is_open=False)
        except StaleRoom:
            raise room_busy() from None
        return messages.ModerationResult(entry=outcome.entry)

    async def close_room(self, sender: Identity, room_id: str) -> messages.RoomView:
        """Close a room for good, for its host."""
        return await self._ask(sender, room_id, messages.CloseRoom(), messages.RoomView)

    async def _ask(self, sender: Identity, room_id: str, command: messages.Command, reply_type: type[T]) -> T:
        return await self._context.rooms.ask(f"live/{room_id}", sender, command, reply_type)


def _visible(comments: Sequence[Comment], room: Room, hidden: frozenset[CommentId]) -> list[messages.CommentView]:
    return [comment_view(it, room.host_id) for it in comments if it.comment_id not in hidden]
