"""Exports of rooms: CSV that no spreadsheet executes, JSON, and no sender id in either."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from random import Random

import httpx
import msgspec
import pytest
from litestar import Litestar, Request
from litestar.di import Provide
from msgspec.structs import replace

from tests.live.entities import MIDORI, ROOM_ID, comment, room, talk_room, uuid
from tests.support.app_context import app_context, user_identity
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.archive.api import archive_routes
from zataku.live.archive.export import EXPORT_PAGE_SIZE, MAX_CONCURRENT_PAGES, Exports, content_disposition
from zataku.live.archive.messages import Export
from zataku.live.archive.spreadsheet import csv_rows, escape_formula
from zataku.live.design import Comment
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.limits import SEQ_START, RoomId, SenderId
from zataku.live.messages import Reactions as ReactionsView
from zataku.live.moderation.design import Mark, Reactions, Upvotes
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.samples import talk_comments, talk_moderation
from zataku.live.service import LiveRooms
from zataku.platform.identity import Identity
from zataku.server.http.compression import Compression
from zataku.server.http.errors import HANDLERS
from zataku.table import Store

MARKUP = '<script>alert("1")</script>, &amp; "quoted"'


@pytest.fixture
async def client(strict: Store, clock: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the archive's routes; requests with the header `as: host` are the host's."""

    def identity(request: Request) -> Identity:  # type: ignore[type-arg]
        return user_identity(str(MIDORI)) if request.headers.get("as") == "host" else user_identity()

    app = Litestar(
        route_handlers=archive_routes(app_context(strict, clock)),
        dependencies={"identity": Provide(identity, sync_to_thread=False)},
        exception_handlers=HANDLERS,
        openapi_config=None,
        logging_config=None,
    )
    transport = httpx.ASGITransport(app=Compression(app))  # type: ignore[arg-type]  # ASGI has many types
    async with httpx.AsyncClient(transport=transport, base_url=f"http://zataku/api/live/rooms/{ROOM_ID}/") as client:
        yield client


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def mark(kind: str, comment: Comment) -> Mark:
    return Mark(room_id=ROOM_ID, mark=kind, comment_id=comment.comment_id, at=instant_ms(START))  # type: ignore[arg-type]


async def fill_room(store: Store) -> None:
    """Store a room with marked, upvoted and hidden comments and with reactions."""
    one = replace(comment(1, MARKUP), anonymous_number=12)
    two, three = comment(2, "=HYPERLINK(1)", sender=SenderId(MIDORI)), comment(3, "rude")
    marks = [mark("PINNED", one), mark("ANSWERED", one), mark("HIDDEN", three)]
    votes = Upvotes(room_id=ROOM_ID, comment_id=one.comment_id, votes=7)
    claps = [Reactions(room_id=ROOM_ID, minute=instant_ms(START + at), clap=3, lol=1) for at in (0, 60)]
    await store.write_many(put=[room(), one, two, three, *marks, votes, *claps])


async def test_a_spreadsheet_has_a_row_for_each_comment_and_markup_stays_text(
    strict: Store, client: httpx.AsyncClient
) -> None:
    await fill_room(strict)
    response = await client.get("export.csv")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.content.startswith(
        b"\xef\xbb\xbfseq,createdAt,nickname,anonymousNumber,host,content,votes,pinned,answered,hidden,commentId\r\n"
    )
    assert response.content.count(b"\r\n") == response.content.count(b"\n") == 3
    first, second = table(response.content.decode())
    assert first == {
        "seq": "000010000001",
        "createdAt": instant_ms(START + 0.001),
        "nickname": "Anonymous",
        "anonymousNumber": "12",
        "host": "false",
        "content": MARKUP,
        "votes": "7",
        "pinned": "true",
        "answered": "true",
        "hidden": "false",
        "commentId": comment(1).comment_id,
    }
    assert (second["content"], second["host"], second["anonymousNumber"]) == ("'=HYPERLINK(1)", "true", "")


async def test_json_has_the_room_its_reactions_and_the_same_comments(strict: Store, client: httpx.AsyncClient) -> None:
    await fill_room(strict)
    response = await client.get("export.json")
    assert response.headers["content-type"] == "application/json"
    export = msgspec.json.decode(response.content, type=Export)
    assert (export.room.name, export.exported_at, export.reactions) == (
        "発表会",
        instant_ms(START),
        ReactionsView(clap=6, lol=2),
    )
    assert [(it.content, it.votes, it.pinned, it.answered, it.hidden) for it in export.comments] == [
        (MARKUP, 7, True, True, False),
        ("=HYPERLINK(1)", 0, False, False, False),
    ]
    assert [(it.host, it.anonymous_number) for it in export.comments] == [(False, 12), (True, None)]


async def test_the_export_of_the_host_has_hidden_comments(strict: Store, client: httpx.AsyncClient) -> None:
    await fill_room(strict)
    assert "rude" not in (await client.get("export.csv")).text + (await client.get("export.json")).text
    in_csv = table((await client.get("export.csv", headers={"as": "host"})).text)
    in_json = msgspec.json.decode((await client.get("export.json", headers={"as": "host"})).content, type=Export)
    assert [it["hidden"] for it in in_csv] == ["false", "false", "true"]
    assert [it.hidden for it in in_json.comments] == [False, False, True]
    assert in_json.comments[2].content == "rude"


async def test_a_room_without_comments_can_be_exported(strict: Store, client: httpx.AsyncClient) -> None:
    await strict.put(room())
    assert table((await client.get("export.csv")).text) == []
    assert msgspec.json.decode((await client.get("export.json")).content, type=Export).comments == []


async def test_a_whole_talk_is_streamed_a_page_at_a_time_and_names_no_sender(strict: Store, clock: ManualClock) -> None:
    random = Random(3)
    talk = talk_room(random, START)
    comments = list(talk_comments(random, START, talk.room_id, 3 * EXPORT_PAGE_SIZE + 7))
    moderation = list(talk_moderation(random, talk, comments))
    await strict.write_many(put=[talk, *comments, *moderation])
    host = user_identity(str(talk.host_id))
    exports = Exports(app_context(strict, clock))

    chunks = [it async for it in (await exports.csv(host, talk.room_id)).chunks]
    assert max(chunk.count(b"\r\n") for chunk in chunks) <= EXPORT_PAGE_SIZE
    assert len(chunks) >= 5
    written = b"".join(chunks).decode()
    assert [it["content"] for it in table(written)] == [escape_formula(it.content) for it in comments]

    chunks = [it async for it in (await exports.json(host, talk.room_id)).chunks]
    assert max(chunk.count(b'"seq"') for chunk in chunks) <= EXPORT_PAGE_SIZE
    whole = msgspec.json.decode(b"".join(chunks), type=Export)
    assert [it.seq for it in whole.comments] == [it.seq for it in comments]
    for private in {it.sender_id for it in comments} | {talk.host_id}:
        assert str(private) not in written
        assert str(private).encode() not in b"".join(chunks)


async def test_few_exports_make_a_page_at_once_and_an_unread_one_holds_up_no_other(
    strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill_room(strict)
    exports = Exports(app_context(strict, clock))
    running = most = 0
    read_marks = GetRoomModerationFunction.marks

    async def count_running(self: GetRoomModerationFunction, room_id: RoomId) -> ModerationState:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1
        return await read_marks(self, room_id)

    async def download() -> bytes:
        return b"".join([it async for it in (await exports.csv(user_identity(), ROOM_ID)).chunks])

    monkeypatch.setattr(GetRoomModerationFunction, "marks", count_running)
    unread = [(await exports.csv(user_identity(), ROOM_ID)).chunks for _ in range(5)]
    for chunks in unread:
        await anext(chunks)
        await anext(chunks)
    assert len(set(await asyncio.gather(*(download() for _ in range(10))))) == 1
    assert most == MAX_CONCURRENT_PAGES


async def test_no_reader_of_the_archive_reads_all_upvotes(
    strict: Store, client: httpx.AsyncClient, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill_room(strict)
    monkeypatch.setattr("zataku.live.functions.moderation.upvotes_in", None)
    for path in ("timeline", "search?q=u", "export.csv", "export.json"):
        assert (await client.get(path)).status_code == 200
    rooms = LiveRooms(app_context(strict, clock))
    assert len((await rooms.comments_after(user_identity(), ROOM_ID, SEQ_START)).comments) == 2


async def test_no_response_names_a_sender(strict: Store, client: httpx.AsyncClient) -> None:
    await fill_room(strict)
    for path in ("timeline", "questions", "search?q=u", "export.csv", "export.json"):
        response = await client.get(path, headers={"as": "host"})
        assert response.status_code == 200
        assert not [word for word in ("guest:sora", "user:midori", "senderId", "hostId") if word in response.text]


@pytest.mark.parametrize("path", ["timeline", "questions", "search?q=x", "export.csv", "export.json"])
async def test_an_unknown_room_is_refused_before_the_first_chunk(client: httpx.AsyncClient, path: str) -> None:
    for nowhere in (uuid(77), "x"):
        response = await client.get(f"../{nowhere}/{path}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "no_such_room")
        assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("query", ["", "q=", f"q={'x' * 101}", "q=%20", "q=x&after=5", "q=x&after=00000000000x"])
async def test_an_invalid_search_is_refused(strict: Store, client: httpx.AsyncClient, query: str) -> None:
    await strict.put(room())
    response = await client.get(f"search?{query}")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid")


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\rx", " =1", "　=1", "\u00a0-2", "＝1", "＋1", "－1", "＠x",
        "　＝cmd|' /C calc'!A0", "\ufeff=1", "\u200b=1", "﹦1", "⁺1", "=",
    ],
)  # fmt: skip
def test_no_cell_is_a_formula(cell: str) -> None:
    assert escape_formula(cell) == f"'{cell}"
    [read] = csv.reader(io.StringIO(csv_rows([[cell, "next"]]).decode(), newline=""))
    assert read == [f"'{cell}", "next"]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("hi;=1+1", "hi;'=1+1"),
        ("hi; =1", "hi; '=1"),
        ("한;　＝1;+2", "한;　'＝1;'+2"),
        (";@SUM(1)", ";'@SUM(1)"),
        (";;-1", ";;'-1"),
        ("a;-x", "a;'-x"),
        ("a;-(1)", "a;'-(1)"),
        ("a;－１", "a;'－１"),
        ("a;--1", "a;'--1"),
        ("a;-+1", "a;'-+1"),
        ("a;-$A$1", "a;'-$A$1"),
        ("a;- 1", "a;'- 1"),
        # The next cell of the row may continue it: where rows are split at semicolons, `-,1` is a number.
        ("a;-", "a;'-"),
        ("a;\u200b=1", "a;\u200b'=1"),
        ('a;"=1+1', "a;\"'=1+1"),
        ('a; ""=1', 'a; ""\'=1'),
        ("=1;=2", "'=1;'=2"),
    ],
)
def test_no_cell_is_a_formula_where_rows_are_split_at_semicolons(cell: str, written: str) -> None:
    assert escape_formula(cell) == written
    split = csv.reader(io.StringIO(csv_rows([["1", cell, "2"]]).decode(), newline=""), delimiter=";")
    assert not [it for row in split for it in row if it.strip(" \u3000\u200b")[:1] in tuple("=+-@＝＋－＠")]
    [read] = csv.reader(io.StringIO(csv_rows([["1", cell, "2"]]).decode(), newline=""))
    assert read == ["1", written, "2"]


@pytest.mark.parametrize("cell", [";-)", "なるほど ;-)", "a;b", "a; b=1", "a;", ";", "a;'=1", "1;2;3", "x；=1", ";)"])
def test_a_smiley_and_plain_text_after_a_semicolon_stay_as_they_are(cell: str) -> None:
    assert escape_formula(cell) == cell


async def test_json_has_the_text_unescaped(strict: Store, client: httpx.AsyncClient) -> None:
    await strict.write_many(put=[room(), comment(1, "=1;=2")])
    response = await client.get("export.json")
    assert msgspec.json.decode(response.content, type=Export).comments[0].content == "=1;=2"


@pytest.mark.parametrize("cell", ["", "a=1", "1-1", "'=1", "👍=", "…", "<=", "x@y.z", "  a", "~"])
def test_plain_text_stays_as_it_is(cell: str) -> None:
    assert escape_formula(cell) == cell


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("LT大会 2026", "LT%E5%A4%A7%E4%BC%9A%202026%202030-01-01.csv"),
        ("../../etc/passwd", "etc%20passwd%202030-01-01.csv"),
        ('a"b;c\\d:e', "a%20b%3Bc%20d%20e%202030-01-01.csv"),
        ("CON", "CON%202030-01-01.csv"),
        ("...", "comments%202030-01-01.csv"),
        ("\u200eright", "right%202030-01-01.csv"),
        ("𠮷" * 100, "%F0%A0%AE%B7" * 50 + "%202030-01-01.csv"),
    ],
)
def test_the_file_is_named_after_the_room_within_the_limits_of_file_systems(name: str, file: str) -> None:
    header = content_disposition(room(name=name, created_at="2030-01-01T00:00:00.000Z"), "csv")
    assert header == f"attachment; filename=\"comments-2030-01-01.csv\"; filename*=UTF-8''{file}"
