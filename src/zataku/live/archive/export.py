"""Exports of all comments of a room as CSV or JSON, written while they are read."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Literal
from urllib.parse import quote

import msgspec

from zataku.clock import instant_ms
from zataku.live.archive.messages import Export, ExportedComment
from zataku.live.archive.spreadsheet import BYTE_ORDER_MARK, csv_rows
from zataku.live.design import Comment, Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import SEQ_START, CommentId, HostId
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.views import is_by_host, reactions_view, room_view
from zataku.platform.identity import Identity
from zataku.system import AppContext
from zataku.text import is_disallowed

EXPORT_PAGE_SIZE = 100
"""Comments of one chunk: a few milliseconds of the event loop. An export holds one page and one chunk, and makes the
next when the client has read.
"""
MAX_CONCURRENT_PAGES = 1
"""Exports that read and encode a page at the same time: the rest of the server needs the event loop."""
MAX_FILE_NAME_LENGTH = 50
"""Characters of up to four bytes: with date and extension the name stays within the limits of file systems."""
_DISALLOWED_IN_FILE_NAMES = frozenset('/\\:*?"<>|%')
_COLUMNS = tuple(field.encode_name for field in msgspec.structs.fields(ExportedComment))
_encode = msgspec.json.Encoder().encode


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is made while it is sent, and the `Content-Disposition` header that names it."""

    disposition: str
    chunks: AsyncIterator[bytes]


class Exports:
    """Exports of rooms, open or closed. An unknown room is refused before the first chunk."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._comments = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._page_slots = asyncio.Semaphore(MAX_CONCURRENT_PAGES)
        self._clock = context.clock

    async def csv(self, viewer: Identity, room_id: str) -> Download:
        """A room as CSV, one comment a row."""
        room = await self._rooms.get(room_id)
        return Download(disposition=content_disposition(room, "csv"), chunks=self._csv_chunks(viewer, room))

    async def json(self, viewer: Identity, room_id: str) -> Download:
        """A room as one JSON object."""
        room = await self._rooms.get(room_id)
        export = Export(
            room=room_view(room, HostId(viewer.account_id)),
            exported_at=instant_ms(self._clock.now()),
            reactions=reactions_view(await self._moderation.reactions(room.room_id)),
            comments=[],
        )
        chunks = self._json_chunks(viewer, room, export)
        return Download(disposition=content_disposition(room, "json"), chunks=chunks)

    async def _csv_chunks(self, viewer: Identity, room: Room) -> AsyncIterator[bytes]:
        yield BYTE_ORDER_MARK.encode() + csv_rows([_COLUMNS])
        async for rows in self._encoded_pages(viewer, room, _page_rows):
            yield rows

    async def _json_chunks(self, viewer: Identity, room: Room, export: Export) -> AsyncIterator[bytes]:
        # `comments` is the last field and still empty: the pages are written between its brackets.
        head, tail = _encode(export)[:-2], b"]}"
        yield head
        separator = b""
        async for page in self._encoded_pages(viewer, room, _encode):
            yield separator + page[1:-1]
            separator = b","
        yield tail

    async def _encoded_pages(
        self, viewer: Identity, room: Room, encode: Callable[[list[ExportedComment]], bytes]
    ) -> AsyncIterator[bytes]:
        pages = self._pages(viewer, room)
        while True:
            # Not while a page is sent: a client that does not read holds up no other.
            async with self._page_slots:
                page = await anext(pages, None)
                if page is None:
                    return
                # In a thread: a page of comments full of semicolons would block the event loop too long.
                encoded = await asyncio.to_thread(encode, page)
            yield encoded

    async def _pages(self, viewer: Identity, room: Room) -> AsyncIterator[list[ExportedComment]]:
        is_host = room.host_id == HostId(viewer.account_id)
        async for page, _ in self._comments.pages(room.room_id, page_size=EXPORT_PAGE_SIZE):
            votes = await self._moderation.votes(room.room_id, [it.comment_id for it in page])
            # Read after each page, so that no comment is exported that was hidden before.
            marks = await self._moderation.marks(room.room_id)
            visible = [it for it in page if is_host or not marks.is_gone(it.comment_id)]
            if visible:
                yield [_exported(it, marks, votes, room.host_id) for it in visible]


def content_disposition(room: Room, extension: Literal["csv", "json"]) -> str:
    """The header that makes browsers save a response under the room's name and date, in every script."""
    day = room.created_at[:10]
    allowed = "".join(" " if it in _DISALLOWED_IN_FILE_NAMES or is_disallowed(it) else it for it in room.name)
    name = " ".join(allowed.split())[:MAX_FILE_NAME_LENGTH].strip(" .") or "comments"
    encoded = quote(f"{name} {day}.{extension}", safe="")
    return f"attachment; filename=\"comments-{day}.{extension}\"; filename*=UTF-8''{encoded}"


def _exported(
    comment: Comment, marks: ModerationState, votes: Mapping[CommentId, int], host_id: HostId
) -> ExportedComment:
    comment_id = comment.comment_id
    return ExportedComment(
        seq=comment.seq or SEQ_START,
        created_at=comment.created_at,
        nickname=comment.nickname,
        anonymous_number=comment.anonymous_number,
        host=is_by_host(comment, host_id),
        content=comment.content,
        votes=votes.get(comment_id, 0),
        pinned=comment_id in marks.pinned,
        answered=comment_id in marks.answered,
        hidden=comment_id in marks.hidden,
        comment_id=comment_id,
    )


def _page_rows(page: Sequence[ExportedComment]) -> bytes:
    return csv_rows([_cell(value) for value in msgspec.structs.astuple(comment)] for comment in page)


def _cell(value: str | int | bool | None) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
