"""The HTTP routes of live rooms, with valid and invalid requests."""

import asyncio
from itertools import count
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.realtime.sockets.memory_connection import MemoryConnection
from tests.server.conftest import PUBLIC, MakeClient
from zataku.clock import AdvanceableClock
from zataku.live.archive.room_cache import MAX_AGE_SECONDS
from zataku.live.design import comments, connections_in
from zataku.live.moderation.design import moderation
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import Join
from zataku.server.app import Application
from zataku.table import Entity

pytestmark = pytest.mark.asyncio(loop_scope="module")
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
ADDRESSES = (f"192.0.2.{number}" for number in count(1))


@pytest.fixture
def host(make_client: MakeClient) -> httpx.AsyncClient:
    """The host of rooms, at an address of their own for the rate limits."""
    return make_client(next(ADDRESSES), origin=PUBLIC)


@pytest.fixture
def guest(make_client: MakeClient) -> httpx.AsyncClient:
    """Another guest, at another address."""
    return make_client(next(ADDRESSES), origin=PUBLIC)


async def open_room(host: httpx.AsyncClient, name: str = "型の話") -> dict[str, Any]:
    response = await host.post("/api/live/rooms", json={"name": name})
    assert response.status_code == 201, response.text
    return response.json()


async def post_comment(client: httpx.AsyncClient, room: str, content: str, **fields: str) -> dict[str, Any]:
    response = await client.post(
        f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": content, **fields}
    )
    assert response.status_code == 201, response.text
    return response.json()


async def moderate(client: httpx.AsyncClient, room: str, **action: Any) -> httpx.Response:
    return await client.post(f"/api/live/rooms/{room}/acts", json=action)


async def read_comments(client: httpx.AsyncClient, room: str, **query: str) -> list[str]:
    response = await client.get(f"/api/live/rooms/{room}/comments", params=query)
    return [comment["content"] for comment in response.json()["comments"]]


async def stored_items(application: Application) -> list[Entity]:
    store = application.services.context.store
    return [item for table in (comments, moderation) async for item in store.scan(table)]


def status_and_code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_a_code_finds_its_room_open_or_ended(host: httpx.AsyncClient, guest: httpx.AsyncClient) -> None:
    room = await open_room(host)
    rooms = (await guest.get(f"/api/live/codes/{room['code']}")).json()["rooms"]
    assert [(view["roomId"], view["mine"]) for view in rooms] == [(room["roomId"], False)]
    closed = (await host.post(f"/api/live/rooms/{room['roomId']}/close")).json()
    assert (closed["status"], closed.get("code"), bool(closed["closedAt"])) == ("CLOSED", None, True)
    ended = (await guest.get(f"/api/live/codes/{room['code']}")).json()["rooms"]
    assert [(view["roomId"], view["status"]) for view in ended] == [(room["roomId"], "CLOSED")]


@pytest.mark.parametrize("number", ["12345", "1234567", "abcdef", "１２３４５６", "x" * 300])
async def test_a_malformed_code_is_refused(guest: httpx.AsyncClient, number: str) -> None:
    assert status_and_code(await guest.get(f"/api/live/codes/{number}")) == (400, "bad_code")


@pytest.mark.parametrize("number", ["012345", "000000"])
async def test_six_digits_without_a_room_are_not_malformed(guest: httpx.AsyncClient, number: str) -> None:
    assert status_and_code(await guest.get(f"/api/live/codes/{number}")) == (404, "no_such_code")


@pytest.mark.parametrize(
    "body",
    [
        {"k": "comment"},
        {"k": "comment", "content": ""},
        {"k": "comment", "content": " \u200b "},
        {"k": "comment", "content": "a\nb"},
        {"k": "comment", "content": "\x1b[31mred"},
        {"k": "comment", "content": "\u202eevil"},
        {"k": "comment", "content": "a" * 501},
        {"k": "comment", "content": "a", "nickname": "b" * 31},
        {"k": "comment", "content": "a", "id": "mine"},
        {"k": "comment", "content": "a", "hostId": "me"},
        {"k": "comment", "content": ["a"]},
        {"k": "close"},
        [],
    ],
)
async def test_an_invalid_comment_is_refused_and_nothing_is_stored(
    application: Application, host: httpx.AsyncClient, guest: httpx.AsyncClient, body: Any
) -> None:
    room = await open_room(host)
    before = await stored_items(application)
    response = await guest.post(f"/api/live/rooms/{room['roomId']}/comments", json=body)
    assert status_and_code(response) == (400, "invalid")
    assert await stored_items(application) == before


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x" * 101}, {"name": "a\tb"}, {"name": "a", "hostId": "x"}]
)
async def test_an_invalid_room_is_refused(host: httpx.AsyncClient, body: Any) -> None:
    assert status_and_code(await host.post("/api/live/rooms", json=body)) == (400, "invalid")
    assert (await host.get("/api/live/rooms")).json()["rooms"] == []


async def test_every_request_to_an_unknown_room_is_not_found(guest: httpx.AsyncClient) -> None:
    room = f"/api/live/rooms/{UNKNOWN_ID}"
    for path in ("", "/comments", "/standing", "/moderation"):
        assert status_and_code(await guest.get(room + path)) == (404, "no_such_room")
    comment = {"k": "comment", "content": "hello?"}
    for path, body in (("/comments", comment), ("/acts", {"k": "pause"}), ("/close", None)):
        assert status_and_code(await guest.post(room + path, json=body)) == (404, "no_such_room")


async def test_a_flood_of_comments_is_rate_limited(
    application: Application, host: httpx.AsyncClient, guest: httpx.AsyncClient
) -> None:
    room = (await open_room(host))["roomId"]
    responses = [
        await guest.post(f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": str(n)}) for n in range(8)
    ]
    refused = [response for response in responses if response.status_code == 429]
    assert len(refused) >= 2
    assert all(status_and_code(response) == (429, "too_many_requests") for response in refused)
    assert all(int(response.headers["retry-after"]) >= 1 for response in refused)
    assert len(await read_comments(host, room)) == 8 - len(refused)


async def test_slow_mode_says_how_long_to_wait(host: httpx.AsyncClient, guest: httpx.AsyncClient) -> None:
    room = (await open_room(host))["roomId"]
    assert (await moderate(host, room, k="slow", seconds=60)).json()["entry"]["action"] == "SLOW"
    await post_comment(guest, room, "first")
    response = await guest.post(f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": "second"})
    assert status_and_code(response) == (429, "slow_mode")
    assert 55 <= int(response.headers["retry-after"]) <= 60
    assert (await guest.get(f"/api/live/rooms/{room}")).json()["slowModeSeconds"] == 60


async def test_only_the_host_moderates_and_reads_the_log(
    application: Application, host: httpx.AsyncClient, guest: httpx.AsyncClient
) -> None:
    room = (await open_room(host))["roomId"]
    comment = (await post_comment(host, room, "mine"))["commentId"]
    before = await stored_items(application)
    for action in (
        {"k": "pause"},
        {"k": "mark", "commentId": comment, "mark": "HIDDEN"},
        {"k": "delete", "commentId": comment},
    ):
        assert status_and_code(await moderate(guest, room, **action)) == (403, "not_the_host")
    assert status_and_code(await guest.get(f"/api/live/rooms/{room}/moderation")) == (403, "not_the_host")
    assert status_and_code(await guest.post(f"/api/live/rooms/{room}/close")) == (403, "not_the_host")
    assert await stored_items(application) == before


@pytest.mark.parametrize(
    "action",
    [
        {"k": "mark", "commentId": UNKNOWN_ID, "mark": "DELETED"},
        {"k": "mark", "commentId": "x", "mark": "HIDDEN"},
        {"k": "slow", "seconds": 0},
        {"k": "slow", "seconds": 3601},
        {"k": "block_word", "word": ""},
        {"k": "block_word", "word": "\u200b"},
        {"k": "block_word", "word": "x" * 51},
        {"k": "ban"},
    ],
)
async def test_an_invalid_moderation_action_is_refused(host: httpx.AsyncClient, action: dict[str, Any]) -> None:
    room = (await open_room(host))["roomId"]
    assert status_and_code(await moderate(host, room, **action)) == (400, "invalid")
    assert (await host.get(f"/api/live/rooms/{room}/moderation")).json()["log"] == []


async def test_only_the_host_sees_hidden_comments(host: httpx.AsyncClient, guest: httpx.AsyncClient) -> None:
    room = (await open_room(host))["roomId"]
    rude = (await post_comment(guest, room, "rude", nickname="Troll"))["commentId"]
    await post_comment(host, room, "kind")
    await moderate(host, room, k="mark", commentId=rude, mark="HIDDEN")
    await moderate(host, room, k="block_sender", commentId=rude)
    await moderate(host, room, k="block_word", word="Spam")
    assert (await read_comments(host, room), await read_comments(guest, room)) == (["rude", "kind"], ["kind"])
    view = (await host.get(f"/api/live/rooms/{room}/moderation")).json()
    assert [(entry["action"], entry.get("about")) for entry in view["log"]] == [
        ("BLOCK_WORD", None),
        ("BLOCK_SENDER", "rude"),
        ("HIDE", "rude"),
    ]
    assert (view["words"], [comment["content"] for comment in view["hidden"]]) == (["spam"], ["rude"])
    assert [(sender["commentId"], sender["about"], sender["nickname"]) for sender in view["senders"]] == [
        (rude, "rude", "Troll")
    ]
    assert (await guest.get(f"/api/live/rooms/{room}/standing")).json()["gone"] == [rude]


async def test_comments_of_a_closed_room_can_be_moderated_and_deleted(
    host: httpx.AsyncClient, guest: httpx.AsyncClient
) -> None:
    room = (await open_room(host))["roomId"]
    ids = [(await post_comment(guest, room, text))["commentId"] for text in ("one", "two", "three")]
    await host.post(f"/api/live/rooms/{room}/close")
    assert (await moderate(host, room, k="mark", commentId=ids[0], mark="HIDDEN")).json()["entry"]["action"] == "HIDE"
    assert (await moderate(host, room, k="mark", commentId=ids[0], mark="HIDDEN")).json() == {}
    assert (await moderate(host, room, k="delete", commentId=ids[1])).json()["entry"]["action"] == "DELETE"
    assert status_and_code(await moderate(host, room, k="pause")) == (409, "room_closed")
    assert status_and_code(await moderate(guest, room, k="delete", commentId=ids[2])) == (403, "not_the_host")
    deleted = await guest.delete(f"/api/live/rooms/{room}/comments/{ids[2]}")
    assert deleted.json() == {"k": "gone", "commentId": ids[2], "deleted": True}
    assert (await read_comments(host, room), await read_comments(guest, room)) == (["one"], [])
    late = await guest.post(f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": "late"})
    assert status_and_code(late) == (409, "room_closed")


async def test_each_caller_upvotes_a_question_of_another_once_and_takes_it_back(
    host: httpx.AsyncClient, guest: httpx.AsyncClient, application: Application
) -> None:
    clock = application.services.context.clock
    assert isinstance(clock, AdvanceableClock)
    room = (await open_room(host))["roomId"]
    question = (await post_comment(guest, room, "why?"))["commentId"]
    path = f"/api/live/rooms/{room}/comments/{question}/upvote"
    assert (await host.post(path)).json()["votes"] == 1
    assert status_and_code(await host.post(path)) == (409, "already_upvoted")
    assert status_and_code(await guest.post(path)) == (409, "own_upvote")
    assert (await guest.get(f"/api/live/rooms/{room}/standing")).json()["votes"] == {question: 1}
    assert (await host.delete(path)).json()["votes"] == 0
    assert status_and_code(await host.delete(path)) == (409, "not_upvoted")
    await clock.advance(MAX_AGE_SECONDS)
    assert (await guest.get(f"/api/live/rooms/{room}/standing")).json().get("votes", {}) == {}
    assert status_and_code(await guest.post(f"/api/live/rooms/{room}/comments/{uuid4()}/upvote")) == (
        404,
        "no_such_comment",
    )


async def test_comments_are_paged_forwards_and_backwards(host: httpx.AsyncClient) -> None:
    room = (await open_room(host))["roomId"]
    posted = [await post_comment(host, room, str(number)) for number in range(4)]
    assert await read_comments(host, room, after=posted[1]["seq"]) == ["2", "3"]
    assert await read_comments(host, room, before=posted[2]["seq"]) == ["0", "1"]
    response = await host.get(f"/api/live/rooms/{room}/comments", params={"before": "x"})
    assert status_and_code(response)[0] == 400


async def test_connections_are_stored_until_they_leave_the_room(
    application: Application, host: httpx.AsyncClient
) -> None:
    room = (await open_room(host))["roomId"]
    realtime, store = application.services.realtime, application.services.context.store
    sockets = [realtime.hub.open(MemoryConnection(), numbered_guest(n), "198.51.100.9") for n in range(3)]

    async def wait_for_connections(count: int) -> list[Any]:
        async with asyncio.timeout(10):
            while len(stored := [item async for item in store.each(connections_in(room))]) != count:
                await asyncio.sleep(0.05)
        return stored

    for number, socket in enumerate(sockets):
        await realtime.router.join(socket, Join(id=number, to=f"live/{room}"))
    stored = await wait_for_connections(3)
    assert {connection.owner for connection in stored} == {application.services.context.node}
    assert all(connection.ttl for connection in stored)
    for socket in sockets[1:]:
        realtime.router.disconnected(socket)
        realtime.hub.forget(socket)
    await wait_for_connections(1)
    await host.post(f"/api/live/rooms/{room}/close")
    await wait_for_connections(0)
    realtime.hub.forget(sockets[0])


def numbered_guest(number: int) -> Identity:
    return Identity(account_id=AccountId(f"00000000-0000-4000-8000-{number:012d}"), role="guest", language="en")


async def test_a_page_skips_hidden_comments(
    host: httpx.AsyncClient, guest: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zataku.live.service.COMMENT_PAGE_SIZE", 2)
    room = (await open_room(host))["roomId"]
    posted = [await post_comment(host, room, str(number)) for number in range(5)]
    for comment in posted[1:4]:
        await moderate(host, room, k="mark", commentId=comment["commentId"], mark="HIDDEN")
    assert await read_comments(guest, room, after=posted[0]["seq"]) == ["4"]
    assert await read_comments(guest, room, before=posted[4]["seq"]) == ["0"]
    assert await read_comments(host, room, after=posted[0]["seq"]) == ["1", "2"]
