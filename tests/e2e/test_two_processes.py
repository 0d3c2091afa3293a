"""Two server processes on one DynamoDB and one Redis serve one room, and either may die or stand still."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

from tests.e2e.server_process import ServerProcess
from tests.e2e.socket_client import ServerError, SocketClient, connected_clients

MOVED_WITHIN = 10.0
AWS = {"AWS_ACCESS_KEY_ID": "zataku", "AWS_SECRET_ACCESS_KEY": "zataku", "AWS_DEFAULT_REGION": "eu-west-1"}


@pytest.fixture(scope="module")
def servers(dynamodb: str, redis: str) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """Two processes of one server. The last test of the module kills the first of them."""
    options = ["--store", dynamodb, "--bus", redis, "--env", "test", "--no-demo"]
    first = ServerProcess(*options, environment=AWS)
    try:
        second = ServerProcess(*options, environment=AWS)
    except BaseException:
        first.close()
        raise
    yield first, second
    first.close()
    second.close()


@pytest.fixture
async def clients(
    servers: tuple[ServerProcess, ServerProcess],
) -> AsyncIterator[tuple[SocketClient, SocketClient, str]]:
    """Two clients in one room, one at each process; the first process owns the room, being asked first."""
    one, other = SocketClient(servers[0].url), SocketClient(servers[1].url)
    room = await one.call("POST", "/api/live/rooms", {"name": f"Talk {uuid4().hex[:6]}"})
    topic = f"live/{room['roomId']}"
    for client in (one, other):
        await client.connect()
        await client.join(topic)
    yield one, other, room["roomId"]
    await one.close()
    await other.close()


async def stored(client: SocketClient, room_id: str) -> list[str]:
    """What the table holds, in order, by way of the process that the client speaks to."""
    found: list[str] = []
    after = "0" * 12
    while True:
        page = await client.call("GET", f"/api/live/rooms/{room_id}/comments?after={after}")
        found += [comment["content"] for comment in page["comments"]]
        if not page.get("more"):
            return found
        after = page["comments"][-1]["seq"]


async def say_until_taken(client: SocketClient, topic: str, content: str) -> float:
    """Say something again and again until it is acknowledged; gives when."""
    async with asyncio.timeout(30):
        while True:
            try:
                await client.post_comment(content)
            except (ServerError, ConnectionError, TimeoutError):
                await asyncio.sleep(0.1)
            else:
                return time.monotonic()


async def test_everybody_reads_the_same_in_the_same_order_at_either_process(
    clients: tuple[SocketClient, SocketClient, str],
) -> None:
    one, other, room_id = clients
    async with connected_clients(one.url, room_id, 7) as here, connected_clients(other.url, room_id, 7) as there:
        talking = [*here, *there, one, other]
        await asyncio.gather(
            *(client.post_comment(f"{who} {n}") for n in range(5) for who, client in enumerate(talking))
        )
        for client in talking:
            await client.wait_until(lambda client=client: len(client.comments) == 80)
        kept = await stored(one, room_id)
        assert [client.contents for client in talking] == [kept] * 16
        await other.wait_until(lambda: other.present_count == 16)


async def test_a_phone_that_was_away_has_every_comment_once_at_whichever_process_it_comes_back(
    clients: tuple[SocketClient, SocketClient, str], servers: tuple[ServerProcess, ServerProcess]
) -> None:
    one, other, room_id = clients
    await one.post_comment("before")
    await other.wait_until(lambda: other.contents == ["before"])
    await other.disconnect()
    async with connected_clients(one.url, room_id, 4) as others:
        await asyncio.gather(
            *(client.post_comment(f"meanwhile {who} {n}") for n in range(5) for who, client in enumerate(others))
        )
    other.url = servers[0].url
    await other.connect()
    await other.join(f"live/{room_id}")
    await one.post_comment("after")
    await other.wait_until(lambda: "after" in other.contents)
    assert other.contents == await stored(one, room_id)


async def test_an_owner_that_stood_still_cannot_write_after_it_lost_the_room(
    clients: tuple[SocketClient, SocketClient, str], servers: tuple[ServerProcess, ServerProcess]
) -> None:
    one, other, room_id = clients
    await one.post_comment("first")
    os.kill(servers[0].process.pid, signal.SIGSTOP)
    paused = time.monotonic()
    # Sent while the owner stands still: it waits in its socket until the owner wakes up as an owner no more.
    asleep = asyncio.create_task(one.post_comment("said to the sleeper"))
    moved = await say_until_taken(other, f"live/{room_id}", "second")
    assert moved - paused < MOVED_WITHIN
    epoch = other.comments[-1]["seq"][:5]
    os.kill(servers[0].process.pid, signal.SIGCONT)
    outcome = (await asyncio.gather(asleep, return_exceptions=True))[0]
    assert isinstance(outcome, dict | ServerError), outcome
    await say_until_taken(other, f"live/{room_id}", "third")
    kept = await stored(other, room_id)
    assert kept.count("said to the sleeper") == (1 if isinstance(outcome, dict) else 0)
    if isinstance(outcome, dict):
        assert outcome["seq"][:5] >= epoch
    await one.wait_until(lambda: one.contents == kept)
    await other.wait_until(lambda: other.contents == kept)


async def test_killing_the_owner_moves_the_room_and_nothing_acknowledged_is_lost(
    clients: tuple[SocketClient, SocketClient, str], servers: tuple[ServerProcess, ServerProcess]
) -> None:
    one, other, room_id = clients
    acknowledged: list[str] = []

    async def keep_saying(client: SocketClient, who: str) -> None:
        for n in range(5):
            try:
                acknowledged.append((await client.post_comment(f"{who}{n}"))["content"])
            except (ServerError, ConnectionError, TimeoutError):
                return

    async with (
        connected_clients(servers[0].url, room_id, 12) as here,
        connected_clients(servers[1].url, room_id, 12) as there,
    ):
        talking = [asyncio.create_task(keep_saying(it, f"{who} ")) for who, it in enumerate([*here, *there])]
        await other.wait_until(lambda: len(other.comments) >= 30)
        servers[0].kill()
        killed = time.monotonic()
        moved = await say_until_taken(other, f"live/{room_id}", "the room lives")
        assert moved - killed < MOVED_WITHIN
        await asyncio.gather(*talking)
    kept = await stored(other, room_id)
    assert len(kept) == len(set(kept))
    assert set(acknowledged) <= set(kept)
    await other.wait_until(lambda: other.contents == kept)
    await one.disconnect()
    one.url = servers[1].url
    await one.connect()
    await one.join(f"live/{room_id}")
    await one.post_comment("back again")
    await other.wait_until(lambda: other.contents[-1:] == ["back again"])
    assert one.contents == other.contents == await stored(other, room_id)
