"""HTTP routes of the archive of a room."""

from typing import Annotated, Any, TypeAlias, cast

from litestar import Response, Router, get
from litestar.params import QueryParameter
from litestar.response import Stream
from litestar.types import ControllerRouterHandler

from zataku.accounts.export_limits import EXPORT
from zataku.live.api import After, Caller, RoomPath
from zataku.live.archive.export import Download, Exports
from zataku.live.archive.messages import Export, Questions, SearchResults, Timeline
from zataku.live.archive.questions import TopQuestions
from zataku.live.archive.search import Search
from zataku.live.archive.timeline import Timelines
from zataku.live.limits import SEQ_START
from zataku.system import AppContext

SearchText: TypeAlias = Annotated[
    str, QueryParameter(description="A part of a comment or name", min_length=1, max_length=100)
]
CSV = "text/csv"
JSON = "application/json"


def archive_routes(context: AppContext) -> tuple[ControllerRouterHandler, ...]:
    """The routes under /api/live that read the archive of a room, open or closed."""
    handlers = _read_routes(Timelines(context), TopQuestions(context), Search(context))
    handlers += _export_routes(Exports(context))
    return (Router("/api/live", route_handlers=handlers, tags=["live"]),)


def _read_routes(timelines: Timelines, top_questions: TopQuestions, search: Search) -> list[ControllerRouterHandler]:
    @get("/rooms/{room_id:str}/timeline", summary="The timeline of a room")
    async def room_timeline(room_id: RoomPath) -> Timeline:
        """Comments and reactions in at most 120 parts of the talk, and the number of senders. Some seconds old."""
        return await timelines(room_id)

    @get("/rooms/{room_id:str}/questions", summary="The questions of a room")
    async def room_questions(room_id: RoomPath) -> Questions:
        """The most upvoted comments, at most 50. Some seconds old."""
        return await top_questions(room_id)

    @get("/rooms/{room_id:str}/search", summary="Search the comments")
    async def search_room(
        identity: Caller, room_id: RoomPath, q: SearchText, after: After = SEQ_START
    ) -> SearchResults:
        """Comments that have a text in their content or their nickname, ignoring the case and width of letters.

        At most 100 of the next 2,000 comments; with `next` there are more to search, even when none matched.
        """
        return await search(identity, room_id, q, after)

    return [room_timeline, room_questions, search_room]


def _export_routes(exports: Exports) -> list[ControllerRouterHandler]:
    @get("/rooms/{room_id:str}/export.csv", summary="Export as CSV", media_type=CSV, opt=EXPORT)
    async def export_csv(identity: Caller, room_id: RoomPath) -> Response[str]:
        """All comments in order, one a row, for spreadsheets: what looks like a formula comes after an apostrophe.

        The host gets what is hidden, too.
        """
        return _stream(await exports.csv(identity, room_id), CSV)

    @get("/rooms/{room_id:str}/export.json", summary="Export as JSON", media_type=JSON, opt=EXPORT)
    async def export_json(identity: Caller, room_id: RoomPath) -> Response[Export]:
        """The room and all comments in order. The host gets what is hidden, too."""
        return _stream(await exports.json(identity, room_id), JSON)

    return [export_csv, export_json]


def _stream(download: Download, media_type: str) -> Response[Any]:
    """The response that streams a file. The return types of the handlers describe the whole file."""
    headers = {"Content-Disposition": download.disposition}
    return cast("Response[Any]", Stream(download.chunks, media_type=media_type, headers=headers))
