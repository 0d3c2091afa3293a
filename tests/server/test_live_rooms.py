"""Live rooms over HTTP, as programs and people without a socket use them: good requests and bad ones."""

import asyncio
from itertools import count
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.realtime.sockets.memory_connection import MemoryConnection
from tests.server.conftest import PUBLIC, MakeClient
from zataku.live.design import comments, connections_in
from zataku.live.moderation.design import moderation
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import Join
from zataku.server.app import Application
from zataku.table import Entity

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOWHERE = "00000000-0000-4000-8000-000000000000"


ADDRESSES = (f"192.0.2.{number}" for number in count(1))


@pytest.fixture
def host(make_client: MakeClient) -> httpx.AsyncClient:
    """Somebody at home, whose address nobody else has used up."""
    return make_client(next(ADDRESSES), origin=PUBLIC)


@pytest.fixture
def guest(make_client: MakeClient) -> httpx.AsyncClient:
    """Somebody else."""
    return make_client(next(ADDRESSES), origin=PUBLIC)


async def opened(host: httpx.AsyncClient, name: str = "型の話") -> dict[str, Any]:
    answer = await host.post("/api/live/rooms", json={"name": name})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def said(who: httpx.AsyncClient, room: str, content: str, **more: str) -> dict[str, Any]:
    answer = await who.post(f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": content, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def act(who: httpx.AsyncClient, room: str, **what: Any) -> httpx.Response:
    return await who.post(f"/api/live/rooms/{room}/acts", json=what)


async def read(who: httpx.AsyncClient, room: str, **query: str) -> list[str]:
    answer = await who.get(f"/api/live/rooms/{room}/comments", params=query)
    return [it["content"] for it in answer.json()["comments"]]


async def everything(application: Application) -> list[Entity]:
    store = application.services.context.store
    return [it for table in (comments, moderation) async for it in store.scan(table)]


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_number_leads_to_the_room_while_it_is_open(host: httpx.AsyncClient, guest: httpx.AsyncClient) -> None:
    room = await opened(host)
    found = (await guest.get(f"/api/live/codes/{room['code']}")).json()["rooms"]
    assert [(it["roomId"], it["mine"]) for it in found] == [(room["roomId"], False)]
    closed = (await host.post(f"/api/live/rooms/{room['roomId']}/close")).json()
    assert (closed["status"], closed.get("code"), bool(closed["closedAt"])) == ("CLOSED", None, True)
    assert code(await guest.get(f"/api/live/codes/{room['code']}")) == (404, "no_such_code")


@pytest.mark.parametrize("number", ["12345", "1234567", "012345", "abcdef", "１２３４５６"])
async def test_what_is_no_number_is_refused(guest: httpx.AsyncClient, number: str) -> None:
    assert code(await guest.get(f"/api/live/codes/{number}"))[0] == 400


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
async def test_a_bad_comment_is_refused_and_nothing_is_stored(
    application: Application, host: httpx.AsyncClient, guest: httpx.AsyncClient, body: Any
) -> None:
    room = await opened(host)
    before = await everything(application)
    answer = await guest.post(f"/api/live/rooms/{room['roomId']}/comments", json=body)
    assert code(answer) == (400, "invalid")
    assert await everything(application) == before


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x" * 101}, {"name": "a\tb"}, {"name": "a", "hostId": "x"}]
)
async def test_a_bad_room_is_refused(host: httpx.AsyncClient, body: Any) -> None:
    assert code(await host.post("/api/live/rooms", json=body)) == (400, "invalid")
    assert (await host.get("/api/live/rooms")).json()["rooms"] == []


async def test_an_unknown_room_takes_and_shows_nothing(guest: httpx.AsyncClient) -> None:
    one = f"/api/live/rooms/{NOWHERE}"
    for path in ("", "/comments", "/standing", "/moderation"):
        assert code(await guest.get(one + path)) == (404, "no_such_room")
    comment = {"k": "comment", "content": "hello?"}
    for path, body in (("/comments", comment), ("/acts", {"k": "pause"}), ("/close", None)):
        assert code(await guest.post(one + path, json=body)) == (404, "no_such_room")


async def test_a_flood_is_told_when_to_come_back(
    application: Application, host: httpx.AsyncClient, guest: httpx.AsyncClient
) -> None:
    room = (await opened(host))["roomId"]
    answers = [
        await guest.post(f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": str(n)}) for n in range(8)
    ]
    refused = [it for it in answers if it.status_code == 429]
    assert len(refused) >= 2
    assert all(code(it) == (429, "too_many_requests") and int(it.headers["retry-after"]) >= 1 for it in refused)
    assert len(await read(host, room)) == 8 - len(refused)


async def test_slow_mode_tells_how_long_to_wait(host: httpx.AsyncClient, guest: httpx.AsyncClient) -> None:
    room = (await opened(host))["roomId"]
    assert (await act(host, room, k="slow", seconds=60)).json()["entry"]["action"] == "SLOW"
    await said(guest, room, "first")
    answer = await guest.post(f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": "second"})
    assert code(answer) == (429, "slow_mode")
    assert 55 <= int(answer.headers["retry-after"]) <= 60
    assert (await guest.get(f"/api/live/rooms/{room}")).json()["slowModeSeconds"] == 60


async def test_only_the_host_acts_and_looks_behind(
    application: Application, host: httpx.AsyncClient, guest: httpx.AsyncClient
) -> None:
    room = (await opened(host))["roomId"]
    comment = (await said(host, room, "mine"))["commentId"]
    before = await everything(application)
    for what in (
        {"k": "pause"},
        {"k": "mark", "commentId": comment, "mark": "HIDDEN"},
        {"k": "delete", "commentId": comment},
    ):
        assert code(await act(guest, room, **what)) == (403, "not_the_host")
    assert code(await guest.get(f"/api/live/rooms/{room}/moderation")) == (403, "not_the_host")
    assert code(await guest.post(f"/api/live/rooms/{room}/close")) == (403, "not_the_host")
    assert await everything(application) == before


@pytest.mark.parametrize(
    "what",
    [
        {"k": "mark", "commentId": NOWHERE, "mark": "DELETED"},
        {"k": "mark", "commentId": "x", "mark": "HIDDEN"},
        {"k": "slow", "seconds": 0},
        {"k": "slow", "seconds": 3601},
        {"k": "block_word", "word": ""},
        {"k": "block_word", "word": "\u200b"},
        {"k": "block_word", "word": "x" * 51},
        {"k": "ban"},
    ],
)
async def test_a_bad_act_is_refused(host: httpx.AsyncClient, what: dict[str, Any]) -> None:
    room = (await opened(host))["roomId"]
    assert code(await act(host, room, **what)) == (400, "invalid")
    assert (await host.get(f"/api/live/rooms/{room}/moderation")).json()["log"] == []


async def test_what_is_hidden_is_seen_by_the_host_alone(host: httpx.AsyncClient, guest: httpx.AsyncClient) -> None:
    room = (await opened(host))["roomId"]
    rude = (await said(guest, room, "rude", nickname="Troll"))["commentId"]
    await said(host, room, "kind")
    await act(host, room, k="mark", commentId=rude, mark="HIDDEN")
    await act(host, room, k="block_sender", commentId=rude)
    await act(host, room, k="block_word", word="Spam")
    assert (await read(host, room), await read(guest, room)) == (["rude", "kind"], ["kind"])
    seen = (await host.get(f"/api/live/rooms/{room}/moderation")).json()
    assert [(it["action"], it.get("about")) for it in seen["log"]] == [
        ("BLOCK_WORD", None),
        ("BLOCK_SENDER", "rude"),
        ("HIDE", "rude"),
    ]
    assert (seen["words"], [it["content"] for it in seen["hidden"]]) == (["spam"], ["rude"])
    assert [(it["commentId"], it["about"], it["nickname"]) for it in seen["senders"]] == [(rude, "rude", "Troll")]
    assert (await guest.get(f"/api/live/rooms/{room}/standing")).json()["gone"] == [rude]


async def test_comments_can_be_moderated_and_taken_back_when_the_room_is_over(
    host: httpx.AsyncClient, guest: httpx.AsyncClient
) -> None:
    room = (await opened(host))["roomId"]
    ids = [(await said(guest, room, text))["commentId"] for text in ("one", "two", "three")]
    await host.post(f"/api/live/rooms/{room}/close")
    assert (await act(host, room, k="mark", commentId=ids[0], mark="HIDDEN")).json()["entry"]["action"] == "HIDE"
    assert (await act(host, room, k="mark", commentId=ids[0], mark="HIDDEN")).json() == {}
    assert (await act(host, room, k="delete", commentId=ids[1])).json()["entry"]["action"] == "DELETE"
    assert code(await act(host, room, k="pause")) == (409, "room_closed")
    assert code(await act(guest, room, k="delete", commentId=ids[2])) == (403, "not_the_host")
    gone = await guest.delete(f"/api/live/rooms/{room}/comments/{ids[2]}")
    assert gone.json() == {"k": "gone", "commentId": ids[2], "deleted": True}
    assert (await read(host, room), await read(guest, room)) == (["one"], [])
    late = await guest.post(f"/api/live/rooms/{room}/comments", json={"k": "comment", "content": "late"})
    assert code(late) == (409, "room_closed")


async def test_a_question_is_upvoted_once_by_each(host: httpx.AsyncClient, guest: httpx.AsyncClient) -> None:
    room = (await opened(host))["roomId"]
    question = (await said(guest, room, "why?"))["commentId"]
    path = f"/api/live/rooms/{room}/comments/{question}/upvote"
    assert [(await who.post(path)).json()["votes"] for who in (host, guest)] == [1, 2]
    assert code(await guest.post(path)) == (409, "already_upvoted")
    assert (await guest.get(f"/api/live/rooms/{room}/standing")).json()["votes"] == {question: 2}
    assert code(await guest.post(f"/api/live/rooms/{room}/comments/{uuid4()}/upvote")) == (404, "no_such_comment")


async def test_a_reader_pages_forth_and_back(host: httpx.AsyncClient) -> None:
    room = (await opened(host))["roomId"]
    made = [await said(host, room, str(number)) for number in range(4)]
    assert await read(host, room, after=made[1]["seq"]) == ["2", "3"]
    assert await read(host, room, before=made[2]["seq"]) == ["0", "1"]
    answer = await host.get(f"/api/live/rooms/{room}/comments", params={"before": "x"})
    assert code(answer)[0] == 400


async def test_who_is_in_a_room_stands_in_the_table_until_they_leave(
    application: Application, host: httpx.AsyncClient
) -> None:
    room = (await opened(host))["roomId"]
    network, store = application.services.realtime, application.services.context.store
    sockets = [network.hub.open(MemoryConnection(), numbered_guest(n), "198.51.100.9") for n in range(3)]

    async def listed(wanted: int) -> list[Any]:
        async with asyncio.timeout(10):
            while len(found := [it async for it in store.each(connections_in(room))]) != wanted:
                await asyncio.sleep(0.05)
        return found

    for number, socket in enumerate(sockets):
        await network.router.join(socket, Join(id=number, to=f"live/{room}"))
    written = await listed(3)
    assert {it.owner for it in written} == {application.services.context.node}
    assert all(it.ttl for it in written)
    for socket in sockets[1:]:
        network.router.disconnected(socket)
        network.hub.forget(socket)
    await listed(1)
    await host.post(f"/api/live/rooms/{room}/close")
    await listed(0)
    network.hub.forget(sockets[0])


def numbered_guest(number: int) -> Identity:
    return Identity(account_id=AccountId(f"00000000-0000-4000-8000-{number:012d}"), role="guest", language="en")


async def test_a_page_of_hidden_comments_is_passed_over(
    host: httpx.AsyncClient, guest: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zataku.live.service.COMMENT_PAGE_SIZE", 2)
    room = (await opened(host))["roomId"]
    made = [await said(host, room, str(number)) for number in range(5)]
    for it in made[1:4]:
        await act(host, room, k="mark", commentId=it["commentId"], mark="HIDDEN")
    assert await read(guest, room, after=made[0]["seq"]) == ["4"]
    assert await read(guest, room, before=made[4]["seq"]) == ["0"]
    assert await read(host, room, after=made[0]["seq"]) == ["1", "2"]
