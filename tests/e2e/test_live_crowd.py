"""Many clients in one room of a server: they get the same comments, also after a reconnect, and a close is final."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.e2e.server_process import ServerProcess, start_embedded_server
from tests.e2e.socket_client import ServerError, SocketClient, connected_clients

DEADLINE = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced."""
    server = start_embedded_server(tmp_path_factory.mktemp("crowd"))
    yield server
    assert server.close() == 0


@pytest.fixture
async def host(server: ServerProcess) -> AsyncIterator[tuple[SocketClient, str]]:
    """A client that has opened a room and joined it, and the id of the room."""
    client = SocketClient(server.url)
    room = (await client.call("POST", "/api/live/rooms", {"name": "Crowd"}))["roomId"]
    await client.connect()
    await client.join(f"live/{room}")
    yield client, room
    await client.close()


async def stored_comments(client: SocketClient, room: str) -> list[dict[str, Any]]:
    """The comments in the table, in order."""
    comments: list[dict[str, Any]] = []
    more = True
    while more:
        after = comments[-1]["seq"] if comments else "0" * 12
        page = await client.call("GET", f"/api/live/rooms/{room}/comments?after={after}")
        comments += page["comments"]
        more = page.get("more", False)
    return comments


async def test_a_comment_that_races_with_the_close_is_stored_and_delivered_or_refused(
    host: tuple[SocketClient, str],
) -> None:
    client, room = host
    acknowledged: set[str] = set()
    refused: list[str] = []

    async def post_comments(sender: SocketClient) -> None:
        for n in range(5):
            try:
                acknowledged.add((await sender.post_comment(f"racing {n}"))["commentId"])
            except ServerError as error:
                refused.append(error.code)
                return

    async with connected_clients(client.url, room, 40) as clients:
        racing = asyncio.gather(*map(post_comments, clients))
        await client.wait_until(lambda: len(client.comments) >= 10)
        assert (await client.execute({"k": "close"}))["status"] == "CLOSED"
        await racing
        assert set(refused) == {"room_closed"}
        stored = await stored_comments(client, room)
        assert {comment["commentId"] for comment in stored} == acknowledged
        for reader in (*clients, client):
            await reader.wait_until(lambda reader=reader: reader.closed)
            assert reader.comments == stored
        with pytest.raises(ServerError, match="room_closed"):
            await clients[0].call("POST", f"/api/live/rooms/{room}/comments", {"k": "comment", "content": "late"})
        with pytest.raises(ServerError, match="room_closed"):
            await clients[1].join(f"live/{room}")


async def test_a_client_that_was_away_for_a_minute_gets_every_comment_once_and_in_order(
    server: ServerProcess, host: tuple[SocketClient, str]
) -> None:
    client, room = host
    async with connected_clients(client.url, room, 45) as clients:
        away = clients.pop()
        await asyncio.gather(*(sender.post_comment(f"before {number}") for number, sender in enumerate(clients)))
        await away.wait_until(lambda: len(away.comments) == 44)
        await away.disconnect()
        for second in range(3):
            await asyncio.gather(
                *(
                    sender.post_comment(f"{second} {number} {n}")
                    for n in range(4)
                    for number, sender in enumerate(clients)
                )
            )
            server.advance_clock(20)
        await client.execute({"k": "delete", "commentId": client.comments[50]["commentId"]})
        await away.connect()
        await away.join(f"live/{room}")
        while away.more:
            page = await away.call("GET", f"/api/live/rooms/{room}/comments?after={away.comments[-1]['seq']}")
            away.apply_page(page)
        await asyncio.gather(*(sender.post_comment(f"after {number}") for number, sender in enumerate(clients)))
        stored = await stored_comments(client, room)
        assert len(stored) == 44 + 3 * 4 * 44 + 44 - 1
        for reader in (away, *clients):
            await reader.wait_until(lambda reader=reader: len(reader.remaining_comments) == len(stored))
            assert reader.remaining_comments == stored


async def test_reactions_are_delivered_together_and_limited_by_client(
    server: ServerProcess, host: tuple[SocketClient, str]
) -> None:
    client, room = host
    async with connected_clients(client.url, room, 10) as clients:
        await asyncio.gather(*(sender.react("clap") for sender in clients for _ in range(3)))
        await client.wait_until(lambda: sum(event.get("clap", 0) for event in client.transient_events) == 30)
        assert len(client.transient_events) <= 6
        await asyncio.gather(*(clients[0].react("lol") for _ in range(50)))
        await clients[0].post_comment("done")
        await client.wait_until(lambda: sum(event.get("lol", 0) for event in client.transient_events) >= 2)
        assert sum(event.get("lol", 0) for event in client.transient_events) <= 10

    async def stored_claps() -> int:
        standing = await client.call("GET", f"/api/live/rooms/{room}/standing")
        return standing.get("reactions", {}).get("clap", 0)

    async with asyncio.timeout(DEADLINE):
        while await stored_claps() != 30:
            # Reactions are stored twice a second, after they are delivered.
            server.advance_clock(1)
