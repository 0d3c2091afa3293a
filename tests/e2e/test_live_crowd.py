"""Many clients in one room of a real server: all read the same, a reconnect misses nothing, and a close is final."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.e2e.server_process import ServerProcess, start_embedded_server
from tests.e2e.socket_client import ServerError, SocketClient, connected_clients


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced."""
    server = start_embedded_server(tmp_path_factory.mktemp("crowd"))
    yield server
    assert server.close() == 0


@pytest.fixture
async def host(server: ServerProcess) -> AsyncIterator[tuple[SocketClient, str]]:
    """Somebody who opened a room and sits in it."""
    client = SocketClient(server.url)
    room = (await client.call("POST", "/api/live/rooms", {"name": "Crowd"}))["roomId"]
    await client.connect()
    await client.join(f"live/{room}")
    yield client, room
    await client.close()


async def kept(client: SocketClient, room: str) -> list[dict[str, Any]]:
    """What the table holds, in order."""
    found: list[dict[str, Any]] = []
    more = True
    while more:
        after = found[-1]["seq"] if found else "0" * 12
        page = await client.call("GET", f"/api/live/rooms/{room}/comments?after={after}")
        found += page["comments"]
        more = page.get("more", False)
    return found


async def test_a_comment_that_races_the_closing_is_stored_and_told_or_refused(host: tuple[SocketClient, str]) -> None:
    client, room = host
    taken: set[str] = set()
    refused: list[str] = []

    async def keep_saying(it: SocketClient) -> None:
        for n in range(5):
            try:
                taken.add((await it.post_comment(f"racing {n}"))["commentId"])
            except ServerError as problem:
                refused.append(problem.code)
                return

    async with connected_clients(client.url, room, 40) as people:
        racing = asyncio.gather(*map(keep_saying, people))
        await client.wait_until(lambda: len(client.comments) >= 10)
        assert (await client.execute({"k": "close"}))["status"] == "CLOSED"
        await racing
        assert set(refused) == {"room_closed"}
        stored = await kept(client, room)
        assert {it["commentId"] for it in stored} == taken
        for it in (*people, client):
            await it.wait_until(lambda it=it: it.closed)
            assert it.comments == stored
        with pytest.raises(ServerError, match="room_closed"):
            await people[0].call("POST", f"/api/live/rooms/{room}/comments", {"k": "comment", "content": "late"})
        with pytest.raises(ServerError, match="room_closed"):
            await people[1].join(f"live/{room}")


async def test_whoever_was_away_for_a_minute_has_every_comment_once_and_in_the_same_order(
    server: ServerProcess, host: tuple[SocketClient, str]
) -> None:
    client, room = host
    async with connected_clients(client.url, room, 45) as people:
        away = people.pop()
        await asyncio.gather(*(it.post_comment(f"before {who}") for who, it in enumerate(people)))
        await away.wait_until(lambda: len(away.comments) == 44)
        await away.disconnect()
        for second in range(3):
            await asyncio.gather(
                *(it.post_comment(f"{second} {who} {n}") for n in range(4) for who, it in enumerate(people))
            )
            server.advance_clock(20)
        await client.execute({"k": "delete", "commentId": client.comments[50]["commentId"]})
        await away.connect()
        await away.join(f"live/{room}")
        while away.more:
            page = await away.call("GET", f"/api/live/rooms/{room}/comments?after={away.comments[-1]['seq']}")
            away.apply_page(page)
        await asyncio.gather(*(it.post_comment(f"after {who}") for who, it in enumerate(people)))
        stored = await kept(client, room)
        assert len(stored) == 44 + 3 * 4 * 44 + 44 - 1
        for it in (away, *people):
            await it.wait_until(lambda it=it: len(it.remaining_comments) == len(stored))
            assert it.remaining_comments == stored


async def test_everybody_claps_and_hears_it_together(host: tuple[SocketClient, str]) -> None:
    client, room = host
    async with connected_clients(client.url, room, 10) as people:
        await asyncio.gather(*(it.react("clap") for it in people for _ in range(3)))
        await client.wait_until(lambda: sum(it.get("clap", 0) for it in client.transient_events) == 30)
        assert len(client.transient_events) <= 6
        await asyncio.gather(*(people[0].react("lol") for _ in range(50)))
        await people[0].post_comment("done")
        await client.wait_until(lambda: sum(it.get("lol", 0) for it in client.transient_events) >= 2)
        assert sum(it.get("lol", 0) for it in client.transient_events) <= 10
    standing = await client.call("GET", f"/api/live/rooms/{room}/standing")
    assert standing["reactions"]["clap"] == 30
