"""A room full of phones on a real server: all read the same, whoever was away misses nothing, and an end is an end."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.e2e.server_process import ServerProcess, on_disk
from tests.e2e.socket_client import Refusal, SocketClient, crowd


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be pushed."""
    house = on_disk(tmp_path_factory.mktemp("crowd"))
    yield house
    assert house.close() == 0


@pytest.fixture
async def host(place: ServerProcess) -> AsyncIterator[tuple[SocketClient, str]]:
    """Somebody who opened a room and sits in it."""
    phone = SocketClient(place.url)
    room = (await phone.call("POST", "/api/live/rooms", {"name": "Crowd"}))["roomId"]
    await phone.connect()
    await phone.join(f"live/{room}")
    yield phone, room
    await phone.close()


async def kept(phone: SocketClient, room: str) -> list[dict[str, Any]]:
    """What the table holds, in order."""
    found: list[dict[str, Any]] = []
    more = True
    while more:
        after = found[-1]["seq"] if found else "0" * 12
        page = await phone.call("GET", f"/api/live/rooms/{room}/comments?after={after}")
        found += page["comments"]
        more = page.get("more", False)
    return found


async def test_a_comment_that_races_the_closing_is_stored_and_told_or_refused(host: tuple[SocketClient, str]) -> None:
    phone, room = host
    taken: set[str] = set()
    refused: list[str] = []

    async def keep_saying(it: SocketClient) -> None:
        for n in range(5):
            try:
                taken.add((await it.say(f"racing {n}"))["commentId"])
            except Refusal as problem:
                refused.append(problem.code)
                return

    async with crowd(phone.url, room, 40) as people:
        racing = asyncio.gather(*map(keep_saying, people))
        await phone.until(lambda: len(phone.comments) >= 10)
        assert (await phone.do({"k": "close"}))["status"] == "CLOSED"
        await racing
        assert set(refused) == {"room_closed"}
        stored = await kept(phone, room)
        assert {it["commentId"] for it in stored} == taken
        for it in (*people, phone):
            await it.until(lambda it=it: it.closed)
            assert it.comments == stored
        with pytest.raises(Refusal, match="room_closed"):
            await people[0].call("POST", f"/api/live/rooms/{room}/comments", {"k": "comment", "content": "late"})
        with pytest.raises(Refusal, match="room_closed"):
            await people[1].join(f"live/{room}")


async def test_whoever_was_away_for_a_minute_has_every_comment_once_and_in_the_same_order(
    place: ServerProcess, host: tuple[SocketClient, str]
) -> None:
    phone, room = host
    async with crowd(phone.url, room, 45) as people:
        away = people.pop()
        await asyncio.gather(*(it.say(f"before {who}") for who, it in enumerate(people)))
        await away.until(lambda: len(away.comments) == 44)
        await away.drop()
        for second in range(3):
            await asyncio.gather(*(it.say(f"{second} {who} {n}") for n in range(4) for who, it in enumerate(people)))
            place.push_clock(20)
        await phone.do({"k": "delete", "commentId": phone.comments[50]["commentId"]})
        await away.connect()
        await away.join(f"live/{room}")
        while away.more:
            page = await away.call("GET", f"/api/live/rooms/{room}/comments?after={away.comments[-1]['seq']}")
            away.fetched(page)
        await asyncio.gather(*(it.say(f"after {who}") for who, it in enumerate(people)))
        stored = await kept(phone, room)
        assert len(stored) == 44 + 3 * 4 * 44 + 44 - 1
        for it in (away, *people):
            await it.until(lambda it=it: len(it.left) == len(stored))
            assert it.left == stored


async def test_everybody_claps_and_hears_it_together(host: tuple[SocketClient, str]) -> None:
    phone, room = host
    async with crowd(phone.url, room, 10) as people:
        await asyncio.gather(*(it.react("clap") for it in people for _ in range(3)))
        await phone.until(lambda: sum(it.get("clap", 0) for it in phone.passed) == 30)
        assert len(phone.passed) <= 6
        await asyncio.gather(*(people[0].react("lol") for _ in range(50)))
        await people[0].say("done")
        await phone.until(lambda: sum(it.get("lol", 0) for it in phone.passed) >= 2)
        assert sum(it.get("lol", 0) for it in phone.passed) <= 10
    standing = await phone.call("GET", f"/api/live/rooms/{room}/standing")
    assert standing["reactions"]["clap"] == 30
