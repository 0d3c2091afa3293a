"""A hall of 500 phones behind one address, and a flood of 700 guests from another, under the default settings.

In the hall everybody joins within two seconds, comments once and upvotes twice within ten, and claps five times a
second, as often as reactions count. After a restart of the server everybody joins again at once.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from uuid import UUID

import msgspec
import pytest

from tests.live.room.room_commands import ROOM_ID, guest, open_live_room, stored_comments
from tests.realtime.sockets.memory_connection import frames_in
from tests.support.manual_clock import ManualClock
from tests.support.stores import START, temporary_store
from zataku.live.design import TABLES as LIVE
from zataku.platform.design import TABLES as PLATFORM
from zataku.realtime.sockets.session import SocketSession
from zataku.realtime.topics import only_without_id
from zataku.server.services import BURST_SECONDS, RealtimeServices, open_realtime_services
from zataku.server.settings import Settings
from zataku.table import Store

PHONES, FLOODING_GUESTS = 500, 700
HALL, ELSEWHERE = "198.51.100.1", "203.0.113.9"
ROOM = f"live/{ROOM_ID}"
REPLIES = (b'{"t":"done"', b'{"t":"refused"', b'{"t":"wrong"', b'{"t":"joined"')


class PhoneConnection:
    """A connection that keeps the replies among what is written to it."""

    def __init__(self) -> None:
        self.replies: list[dict[str, object]] = []

    def write(self, framed: bytes, /) -> None:
        if any(start in framed for start in REPLIES):
            payloads = (payload for _, payload in frames_in(framed))
            self.replies += [msgspec.json.decode(payload) for payload in payloads if payload.startswith(REPLIES)]

    has_backlog = False

    def pending_bytes(self) -> int:
        return 0

    def was_active(self) -> bool:
        return True

    def charge_command(self) -> None:
        pass

    def pause(self, seconds: float) -> None:
        raise AssertionError(f"Paused for {seconds} seconds.")

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(f"Closed with {code}: {reason}")


class Phone:
    """A guest with one socket, whose messages take the path of real ones."""

    def __init__(self, realtime: RealtimeServices, number: int, address: str) -> None:
        self.connection = PhoneConnection()
        self._realtime, self._sent = realtime, 0
        self.socket = realtime.hub.open(self.connection, guest(number), address)
        self._session = SocketSession(realtime.hub, realtime.router, self.socket)

    async def send(self, **message: object) -> None:
        self._sent += 1
        if message["t"] in ("do", "join"):
            message["id"] = self._sent
        await self._session.receive_text(msgspec.json.encode(message).decode())

    async def enter(self) -> None:
        """Open the home page and then the room, as a visitor does."""
        await self.send(t="join", to="home")
        await self.send(t="leave", to="home")
        await self.send(t="join", to=ROOM)

    async def comment(self, content: str, comment_id: str | None = None) -> None:
        await self.send(t="do", to=ROOM, what={"k": "comment", "content": content, "id": comment_id})

    async def disconnect(self) -> None:
        await self._session.cancel()
        self._realtime.router.disconnected(self.socket)
        self._realtime.hub.forget(self.socket)

    def flush(self) -> None:
        """Write what is queued for all phones: the clock stands still."""
        self._realtime.hub._flush_queue.flush()

    def refusals(self) -> list[dict[str, object]]:
        return [reply for reply in self.connection.replies if reply["t"] in ("refused", "wrong")]

    def count(self, kind: str) -> int:
        return sum(reply["t"] == kind for reply in self.connection.replies)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with temporary_store("embedded", tmp_path, (*LIVE, *PLATFORM), clock) as store:
        yield store


@pytest.fixture
async def realtime(store: Store, clock: ManualClock) -> AsyncIterator[RealtimeServices]:
    async with AsyncExitStack() as closing:
        services = await open_realtime_services(Settings(), store, clock, Random(1), "web-1", closing)
        services.topics.declare("home", exists=only_without_id)
        services.rooms.register(await open_live_room(store))
        await services.rooms.start()
        closing.push_async_callback(services.rooms.stop)
        yield services


async def settle(phones: Sequence[Phone], replies: int) -> None:
    """Wait until the phones have so many replies to commands and joins together."""
    async with asyncio.timeout(30):
        while sum(phone.count("done") + phone.count("joined") + len(phone.refusals()) for phone in phones) < replies:
            await asyncio.sleep(0.005)
            phones[0].flush()


async def talk(phones: Sequence[Phone], clock: ManualClock) -> None:
    """Ten seconds in which everybody comments once, upvotes the first two comments and claps five times a second.

    Those two are of the first two phones, which upvote nothing. A tenth of a second takes as long as the store needs.
    """
    replies = 2 * len(phones)
    first, second = (str(UUID(int=number, version=4)) for number in (10_001, 10_002))
    for tenth in range(100):
        for phone in phones[tenth % 2 :: 2]:
            await phone.send(t="pass", to=ROOM, what={"k": "react", "reaction": "clap"})
        for number, phone in enumerate(phones[tenth * 5 : tenth * 5 + 5]):
            await phone.comment("Good point!", {0: first, 1: second}.get(number) if tenth == 0 else None)
            replies += 1
        if tenth >= 50:
            for phone in phones[max(2, (tenth - 50) * 10) : (tenth - 49) * 10]:
                await phone.send(t="do", to=ROOM, what={"k": "upvote", "commentId": first})
                await phone.send(t="do", to=ROOM, what={"k": "upvote", "commentId": second})
                replies += 2
        await clock.advance(0.1)
        await settle(phones, replies)


async def test_a_hall_of_500_phones_behind_one_address_is_refused_nothing(
    realtime: RealtimeServices, store: Store, clock: ManualClock
) -> None:
    phones = [Phone(realtime, number, HALL) for number in range(PHONES)]
    for first in range(0, PHONES, 50):
        await asyncio.gather(*(phone.enter() for phone in phones[first : first + 50]))
        await clock.advance(0.2)
    await settle(phones, 2 * PHONES)
    await talk(phones, clock)

    for phone in phones:
        await phone.disconnect()
    returned = [Phone(realtime, number, HALL) for number in range(PHONES)]
    await asyncio.gather(*(phone.enter() for phone in returned))
    await settle(returned, 2 * PHONES)
    assert [phone.refusals() for phone in (*phones, *returned) if phone.refusals()] == []
    assert realtime.hub.counters.refused == 0
    assert len(await stored_comments(store)) == PHONES


async def test_a_flood_of_700_guests_from_one_address_is_refused_and_does_not_reach_the_hall(
    realtime: RealtimeServices, store: Store, clock: ManualClock
) -> None:
    seconds, settings = 5, Settings()
    visitors = [Phone(realtime, number, HALL) for number in range(20)]
    flooding = [Phone(realtime, 1000 + number, ELSEWHERE) for number in range(FLOODING_GUESTS)]
    for phone in (*visitors, *flooding):
        await phone.send(t="join", to=ROOM)
    await settle([*visitors, *flooding], 20 + FLOODING_GUESTS)
    for second in range(seconds):
        for phone in flooding:
            await phone.comment("spam")
        for phone in visitors:
            await phone.comment(f"Question {second}")
        await settle([*visitors, *flooding], (second + 2) * (20 + FLOODING_GUESTS))
        await clock.advance(1)

    accepted = sum(phone.count("done") for phone in flooding)
    assert accepted == settings.commands_per_address * (BURST_SECONDS + seconds - 1)
    errors = [reply["error"] for phone in flooding for reply in phone.refusals()]
    assert len(errors) == FLOODING_GUESTS * seconds - accepted
    assert {(error["code"], error["details"]["retry_after"]) for error in errors} == {("too_many_requests", 1)}  # type: ignore[index]
    assert [phone.refusals() for phone in visitors] == [[]] * 20
    assert len(await stored_comments(store)) == accepted + 20 * seconds


async def test_a_flood_of_joins_from_one_address_is_refused(realtime: RealtimeServices) -> None:
    phones = [Phone(realtime, number, ELSEWHERE) for number in range(FLOODING_GUESTS)]
    sent = Settings().joins_per_address * BURST_SECONDS + 100
    for number in range(sent):
        await phones[number % FLOODING_GUESTS].send(t="join", to="home")
    await settle(phones, sent)
    assert sum(len(phone.refusals()) for phone in phones) == 100
    visitor = Phone(realtime, 1, HALL)
    await visitor.enter()
    await settle([visitor], 2)
    assert visitor.refusals() == []
