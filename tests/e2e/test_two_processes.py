"""Two server processes on one DynamoDB and one Redis serve one room, and either may die or stand still."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

from tests.e2e.server_process import ServerProcess
from tests.e2e.socket_client import Refusal, SocketClient, crowd

MOVED_WITHIN = 10.0
AWS = {"AWS_ACCESS_KEY_ID": "zataku", "AWS_SECRET_ACCESS_KEY": "zataku", "AWS_DEFAULT_REGION": "eu-west-1"}


@pytest.fixture(scope="module")
def houses(dynamodb: str, redis: str) -> Iterator[tuple[ServerProcess, ServerProcess]]:
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
async def phones(houses: tuple[ServerProcess, ServerProcess]) -> AsyncIterator[tuple[SocketClient, SocketClient, str]]:
    """Two phones in one room, one at each process; the first process owns the room, being asked first."""
    one, other = SocketClient(houses[0].url), SocketClient(houses[1].url)
    room = await one.call("POST", "/api/live/rooms", {"name": f"Talk {uuid4().hex[:6]}"})
    topic = f"live/{room['roomId']}"
    for phone in (one, other):
        await phone.connect()
        await phone.join(topic)
    yield one, other, room["roomId"]
    await one.close()
    await other.close()


async def stored(phone: SocketClient, room_id: str) -> list[str]:
    """What the table holds, in order, by way of the process that the phone speaks to."""
    found: list[str] = []
    after = "0" * 12
    while True:
        page = await phone.call("GET", f"/api/live/rooms/{room_id}/comments?after={after}")
        found += [comment["content"] for comment in page["comments"]]
        if not page.get("more"):
            return found
        after = page["comments"][-1]["seq"]


async def say_until_taken(phone: SocketClient, topic: str, content: str) -> float:
    """Say something again and again until it is acknowledged; gives when."""
    async with asyncio.timeout(30):
        while True:
            try:
                await phone.say(content)
            except (Refusal, ConnectionError, TimeoutError):
                await asyncio.sleep(0.1)
            else:
                return time.monotonic()


async def test_everybody_reads_the_same_in_the_same_order_at_either_process(
    phones: tuple[SocketClient, SocketClient, str],
) -> None:
    one, other, room_id = phones
    async with crowd(one.url, room_id, 7) as here, crowd(other.url, room_id, 7) as there:
        talking = [*here, *there, one, other]
        await asyncio.gather(*(phone.say(f"{who} {n}") for n in range(5) for who, phone in enumerate(talking)))
        for phone in talking:
            await phone.until(lambda phone=phone: len(phone.comments) == 80)
        kept = await stored(one, room_id)
        assert [phone.read for phone in talking] == [kept] * 16
        await other.until(lambda: other.here == 16)


async def test_a_phone_that_was_away_has_every_comment_once_at_whichever_process_it_comes_back(
    phones: tuple[SocketClient, SocketClient, str], houses: tuple[ServerProcess, ServerProcess]
) -> None:
    one, other, room_id = phones
    await one.say("before")
    await other.until(lambda: other.read == ["before"])
    await other.drop()
    async with crowd(one.url, room_id, 4) as others:
        await asyncio.gather(*(phone.say(f"meanwhile {who} {n}") for n in range(5) for who, phone in enumerate(others)))
    other.url = houses[0].url
    await other.connect()
    await other.join(f"live/{room_id}")
    await one.say("after")
    await other.until(lambda: "after" in other.read)
    assert other.read == await stored(one, room_id)


async def test_an_owner_that_stood_still_cannot_write_after_it_lost_the_room(
    phones: tuple[SocketClient, SocketClient, str], houses: tuple[ServerProcess, ServerProcess]
) -> None:
    one, other, room_id = phones
    await one.say("first")
    os.kill(houses[0].process.pid, signal.SIGSTOP)
    paused = time.monotonic()
    # Sent while the owner stands still: it waits in its socket until the owner wakes up as an owner no more.
    asleep = asyncio.create_task(one.say("said to the sleeper"))
    moved = await say_until_taken(other, f"live/{room_id}", "second")
    assert moved - paused < MOVED_WITHIN
    epoch = other.comments[-1]["seq"][:5]
    os.kill(houses[0].process.pid, signal.SIGCONT)
    outcome = (await asyncio.gather(asleep, return_exceptions=True))[0]
    assert isinstance(outcome, dict | Refusal), outcome
    await say_until_taken(other, f"live/{room_id}", "third")
    kept = await stored(other, room_id)
    assert kept.count("said to the sleeper") == (1 if isinstance(outcome, dict) else 0)
    if isinstance(outcome, dict):
        assert outcome["seq"][:5] >= epoch
    await one.until(lambda: one.read == kept)
    await other.until(lambda: other.read == kept)


async def test_killing_the_owner_moves_the_room_and_nothing_acknowledged_is_lost(
    phones: tuple[SocketClient, SocketClient, str], houses: tuple[ServerProcess, ServerProcess]
) -> None:
    one, other, room_id = phones
    acknowledged: list[str] = []

    async def keep_saying(phone: SocketClient, who: str) -> None:
        for n in range(5):
            try:
                acknowledged.append((await phone.say(f"{who}{n}"))["content"])
            except (Refusal, ConnectionError, TimeoutError):
                return

    async with crowd(houses[0].url, room_id, 12) as here, crowd(houses[1].url, room_id, 12) as there:
        talking = [asyncio.create_task(keep_saying(it, f"{who} ")) for who, it in enumerate([*here, *there])]
        await other.until(lambda: len(other.comments) >= 30)
        houses[0].kill()
        killed = time.monotonic()
        moved = await say_until_taken(other, f"live/{room_id}", "the room lives")
        assert moved - killed < MOVED_WITHIN
        await asyncio.gather(*talking)
    kept = await stored(other, room_id)
    assert len(kept) == len(set(kept))
    assert set(acknowledged) <= set(kept)
    await other.until(lambda: other.read == kept)
    await one.drop()
    one.url = houses[1].url
    await one.connect()
    await one.join(f"live/{room_id}")
    await one.say("back again")
    await other.until(lambda: other.read[-1:] == ["back again"])
    assert one.read == other.read == await stored(other, room_id)
