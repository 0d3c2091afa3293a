"""All comments of a room to take along, as CSV or JSON, written while they are read."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import msgspec

from zataku.live.archive.messages import Export, ExportedComment
from zataku.live.archive.naming import disposition
from zataku.live.archive.reading import pages
from zataku.live.archive.spreadsheet import BYTE_ORDER_MARK, rows
from zataku.live.design import Comment, Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import SEQ_START, HostId, instant_ms
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.views import reactions_view, room_view
from zataku.platform.identity import Identity
from zataku.system import AppContext

_COLUMNS = tuple(field.encode_name for field in msgspec.structs.fields(ExportedComment))
_encode = msgspec.json.Encoder().encode


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is made while it is sent, and the header that names it."""

    disposition: str
    chunks: AsyncIterator[bytes]


class Exports:
    """Writes down rooms, open or closed. A room is refused before anything of it is sent."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._read = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._clock = context.clock

    async def csv(self, viewer: Identity, room_id: str) -> Download:
        """A room as a table, one comment a row."""
        room = await self._rooms.one(room_id)
        return Download(disposition=disposition(room, "csv"), chunks=self._csv(viewer, room))

    async def json(self, viewer: Identity, room_id: str) -> Download:
        """A room as one JSON object."""
        room = await self._rooms.one(room_id)
        whole = Export(
            room=room_view(room, HostId(viewer.account_id)),
            exported_at=instant_ms(self._clock.now()),
            reactions=reactions_view(await self._moderation.reactions(room.room_id)),
            comments=[],
        )
        return Download(disposition=disposition(room, "json"), chunks=self._json(viewer, room, whole))

    async def _csv(self, viewer: Identity, room: Room) -> AsyncIterator[bytes]:
        yield BYTE_ORDER_MARK.encode() + rows([_COLUMNS])
        async for page in self._exported(viewer, room):
            # In a thread: comments of nothing but semicolons take longer than others should wait.
            yield await asyncio.to_thread(_table, page)

    async def _json(self, viewer: Identity, room: Room, whole: Export) -> AsyncIterator[bytes]:
        # The comments come last, and their list is still empty: they are written between its brackets.
        head, end = _encode(whole)[:-2], b"]}"
        yield head
        between = b""
        async for page in self._exported(viewer, room):
            yield between + _encode(page)[1:-1]
            between = b","
        yield end

    async def _exported(self, viewer: Identity, room: Room) -> AsyncIterator[list[ExportedComment]]:
        hosting = room.host_id == HostId(viewer.account_id)
        async for page, _ in pages(self._read, room.room_id):
            # After each page, so that nothing is sent that was hidden before it was read.
            standing = await self._moderation.standing(room.room_id)
            shown = [_exported(it, standing) for it in page if hosting or not standing.is_gone(it.comment_id)]
            if shown:
                yield shown


def _exported(comment: Comment, standing: ModerationState) -> ExportedComment:
    of = comment.comment_id
    return ExportedComment(
        seq=comment.seq or SEQ_START,
        created_at=comment.created_at,
        nickname=comment.nickname,
        content=comment.content,
        votes=standing.votes.get(of, 0),
        pinned=of in standing.pinned,
        answered=of in standing.answered,
        hidden=of in standing.hidden,
        comment_id=of,
    )


def _table(page: Sequence[ExportedComment]) -> bytes:
    return rows([_cell(getattr(it, name)) for name in it.__struct_fields__] for it in page)


def _cell(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
