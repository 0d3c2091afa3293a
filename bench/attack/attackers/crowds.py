"""Connections and subscriptions by the thousand: idle connections, topics, and readers that do not read."""

import asyncio
import re
from random import Random
from uuid import UUID

import msgspec

from bench.attack.attackers.frames import TEXT, frame
from bench.attack.connections import Connection, close_all, connect, open_socket
from bench.attack.outcome import Outcome
from bench.attack.pace import Bounds, gather_bounded, paced, source_address
from bench.attack.target import Target
from bench.live import comments

CONNECTIONS_PER_ADDRESS = 2000
_FAMILY = 3
_CONNECTIONS_PER_SECOND = 400
_WORKERS = 20
_IDLE_SECONDS = 30.0
"""The server closes a connection without a request after 15 seconds."""
_INTERNAL = b'"code":"internal"'
_KIND = re.compile(rb'\{"t":"([a-z_]+)"')

_encode = msgspec.json.Encoder().encode


def random_id(random: Random) -> str:
    """A UUIDv4."""
    return str(UUID(int=random.getrandbits(128), version=4))


async def idle_connections(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Connections that send nothing, from two addresses; each must be closed by the server."""
    outcome = Outcome()
    idle: list[Connection] = []
    async for number in paced(bounds.connections, _CONNECTIONS_PER_SECOND, bounds.seconds):
        source = source_address(_FAMILY, number // CONNECTIONS_PER_ADDRESS)
        connection = await connect(target.port, source, outcome)
        if connection is not None:
            outcome.messages += 1
            idle.append(connection)
    await asyncio.gather(*(connection.expect_close(b"", _IDLE_SECONDS) for connection in idle))
    close_all(idle)
    return outcome


async def topic_joins(target: Target, bounds: Bounds, random: Random) -> Outcome:
    """Joins of topics that do not exist and of unknown rooms, far more than a socket may have."""
    outcome = Outcome()
    names = ("home/{}", "live/{}", "drawing/{}", "othello/{}", "{}", "home", "live/{}/../..", "home/" + "x" * 2000)

    async def work(number: int) -> None:
        share = bounds.messages // bounds.connections
        connection: Connection | None = None
        reading: asyncio.Task[None] | None = None
        async for turn in paced(share, share / bounds.seconds, bounds.seconds):
            if connection is None:
                connection = await open_socket(target.port, source_address(_FAMILY, 10 + number // 100), outcome)
                if connection is None:
                    continue
                reading = asyncio.create_task(count_replies(connection))
            name = names[(turn + number) % len(names)].format(random_id(random))
            if not await connection.send(frame(TEXT, _encode({"t": "join", "id": turn, "to": name}))):
                connection = None
        if connection is not None:
            close_all([connection])
        if reading is not None:
            await reading

    await gather_bounded(bounds.connections, work)
    return outcome


async def full_subscriptions(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Sockets of two addresses that each join as many rooms as a socket may, and stay."""
    outcome = Outcome()
    joins = [{"t": "join", "id": number, "to": f"live/{room_id}"} for number, room_id in enumerate(target.empty_ids)]
    content = b"".join(frame(TEXT, _encode(join)) for join in joins)
    sockets: list[Connection] = []
    readings: list[asyncio.Task[None]] = []

    async def work(worker: int) -> None:
        async for turn in paced(bounds.connections // _WORKERS, _CONNECTIONS_PER_SECOND / _WORKERS, bounds.seconds):
            number = turn * _WORKERS + worker
            source = source_address(_FAMILY, 50 + number // CONNECTIONS_PER_ADDRESS)
            connection = await open_socket(target.port, source, outcome)
            if connection is None:
                continue
            sockets.append(connection)
            readings.append(asyncio.create_task(count_replies(connection)))
            await connection.send(content, len(joins))

    await gather_bounded(_WORKERS, work)
    await asyncio.sleep(min(5.0, bounds.seconds))
    close_all(sockets)
    await asyncio.gather(*readings)
    return outcome


async def slow_readers(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Sockets in the room of the audience that join again and again and read nothing."""
    outcome = Outcome()
    join = frame(TEXT, comments.join(f"live/{target.room_id}"))
    leave = frame(TEXT, _encode({"t": "leave", "to": f"live/{target.room_id}"}))

    async def work(number: int) -> None:
        share = max(1, bounds.messages // bounds.connections // 2)
        connection: Connection | None = None
        async for _ in paced(share, share / bounds.seconds, bounds.seconds):
            if connection is None:
                source = source_address(_FAMILY, 100 + number // 100)
                connection = await open_socket(target.port, source, outcome, receive_buffer=2048)
            if connection is not None and not await connection.send(join + leave + join, 3):
                connection = None
        if connection is not None:
            close_all([connection])

    await gather_bounded(bounds.connections, work)
    return outcome


async def count_replies(connection: Connection) -> None:
    """Count the messages of the server on a socket by their kind until it is closed.

    Frames are not parsed: attackers receive hundreds of thousands of events, and share the processor with the server.
    """
    before = b""
    while chunk := await connection.read():
        for kind in _KIND.findall(chunk):
            connection.outcome.answer(kind.decode())
        if _INTERNAL in before + chunk:
            connection.outcome.fault(connection.last_sent, before + chunk)
            before = b""
        else:
            before = chunk[1 - len(_INTERNAL) :]
