"""Floods of WebSocket frames, and frames that violate the protocol."""

import asyncio
from random import Random

from bench.attack.connections import Connection, open_socket
from bench.attack.outcome import CLOSED, Outcome
from bench.attack.pace import Bounds, gather_bounded, paced, source_address
from bench.attack.target import Target

BYTES_PER_SECOND = 1_700_000
"""What one attacker sends: less than a home connection uploads."""
_TURNS_PER_SECOND = 50
_FAMILY = 0
_CLOSE_SECONDS = 10.0
"""A connection that violated the protocol is closed within this time."""

TEXT, BINARY, CLOSE, PING, PONG, CONTINUATION = 0x1, 0x2, 0x8, 0x9, 0xA, 0x0


def frame(opcode: int, payload: bytes = b"", *, last: bool = True, reserved: int = 0, is_masked: bool = True) -> bytes:
    """A frame of a client; a mask of zeros leaves the payload as it is."""
    mask = 0x80 if is_masked else 0
    head = bytes(((0x80 if last else 0) | reserved << 4 | opcode,))
    if len(payload) < 126:
        head += bytes((mask | len(payload),))
    elif len(payload) < 1 << 16:
        head += bytes((mask | 126,)) + len(payload).to_bytes(2)
    else:
        head += bytes((mask | 127,)) + len(payload).to_bytes(8)
    return head + (b"\0\0\0\0" if is_masked else b"") + payload


FLOODS = {
    "pongs": frame(PONG),
    "pings": frame(PING),
    "long pings": frame(PING, b"x" * 125),
    "empty texts": frame(TEXT),
    "empty binaries": frame(BINARY),
    "continuations": frame(CONTINUATION, last=False),
    "one-byte continuations": frame(CONTINUATION, b" ", last=False),
    "closes": frame(CLOSE, b"\x03\xe8"),
}

INVALID = (
    frame(TEXT, reserved=4),
    frame(TEXT, reserved=1),
    *(frame(opcode) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)),
    frame(TEXT, b"{}", is_masked=False),
    frame(PING, b"x" * 126),
    frame(PING, last=False),
    frame(CLOSE, last=False),
    frame(CLOSE, b"\x03"),
    frame(CLOSE, b"\x03\xec"),
    frame(CLOSE, b"\x00\x00"),
    frame(CLOSE, b"\xff\xff"),
    frame(CLOSE, b"\x03\xe8\xff\xfe"),
    frame(CONTINUATION, b"x"),
    frame(TEXT, b"x", last=False) + frame(TEXT, b"y"),
    frame(TEXT, b"\xff\xfe\xfd"),
    frame(TEXT, b"\xed\xa0\x80"),
    frame(TEXT, b"\xf0\x9f", last=False) + frame(CONTINUATION, b"\x98"),
    b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0",
    b"\x81\xff" + (1 << 62).to_bytes(8) + b"\0\0\0\0",
    b"\x81\xff" + (10 << 20).to_bytes(8) + b"\0\0\0\0" + b"x" * 100_000,
    frame(TEXT, b"x" * 200_000),
    frame(BINARY, b"x" * 1_000_000),
    frame(TEXT, b"x" * 30_000, last=False) + frame(CONTINUATION, b"x" * 30_000, last=False) * 20,
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3,
    b"\x00" * 4096,
)
"""Bytes for which a server closes the connection."""


async def pong_flood(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Empty pongs on one socket, again after each close."""
    outcome = Outcome()
    await _flood(target, bounds, outcome, FLOODS["pongs"], source_address(_FAMILY, 0))
    return outcome


async def mixed_flood(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Each kind of empty or control frame on sockets of its own."""
    outcome = Outcome()
    kinds = list(FLOODS.values())
    share = Bounds(
        messages=bounds.messages // bounds.connections, seconds=bounds.seconds, connections=bounds.connections
    )

    async def work(number: int) -> None:
        await _flood(target, share, outcome, kinds[number % len(kinds)], source_address(_FAMILY, 1 + number))

    await gather_bounded(bounds.connections, work)
    return outcome


async def frames_after_close(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """A close frame, then a flood on the same connection, which must be over soon."""
    outcome = Outcome()
    kinds = [FLOODS[name] for name in ("pongs", "pings", "empty texts", "continuations")]
    share = bounds.messages // bounds.connections

    async def work(number: int) -> None:
        flood = kinds[number % len(kinds)]
        connection = await open_socket(target.port, source_address(_FAMILY, 50 + number), outcome)
        if connection is None:
            return
        await connection.send(frame(CLOSE, b"\x03\xe8"))
        batch = max(1, BYTES_PER_SECOND // bounds.connections // _TURNS_PER_SECOND // len(flood))
        async for _ in paced(share // batch + 1, _TURNS_PER_SECOND, bounds.seconds):
            if not await connection.send(flood * batch, batch):
                outcome.answer(CLOSED)
                return
        await connection.expect_close(flood, _CLOSE_SECONDS)
        connection.writer.transport.abort()

    await gather_bounded(bounds.connections, work)
    return outcome


async def invalid_frames(target: Target, bounds: Bounds, random: Random) -> Outcome:
    """Frames that violate the protocol or the limits, whole and byte by byte; every connection must be closed."""
    outcome = Outcome()

    async def work(number: int) -> None:
        count = bounds.messages // bounds.connections
        async for turn in paced(count, count / bounds.seconds, bounds.seconds):
            content = INVALID[(number + turn * bounds.connections) % len(INVALID)]
            connection = await open_socket(target.port, source_address(_FAMILY, 100 + number), outcome)
            if connection is None:
                continue
            step = 1 if len(content) < 64 and random.random() < 0.3 else len(content)
            for at in range(0, len(content), step):
                if not await connection.send(content[at : at + step], 0):
                    break
            outcome.messages += 1
            await connection.expect_close(content, _CLOSE_SECONDS)
            connection.writer.transport.abort()

    await gather_bounded(bounds.connections, work)
    return outcome


async def _flood(target: Target, bounds: Bounds, outcome: Outcome, flood: bytes, source: str) -> None:
    """Send one frame again and again, on a new socket whenever the server has closed the last."""
    batch = max(1, BYTES_PER_SECOND // max(1, bounds.connections) // _TURNS_PER_SECOND // len(flood))
    connection: Connection | None = None
    reading: asyncio.Task[None] | None = None
    async for _ in paced(bounds.messages // batch + 1, _TURNS_PER_SECOND, bounds.seconds):
        if connection is None:
            connection = await open_socket(target.port, source, outcome)
            if connection is None:
                continue
            reading = asyncio.create_task(_discard(connection))
        if not await connection.send(flood * batch, batch) or connection.reader.at_eof():
            outcome.answer(CLOSED)
            connection.writer.transport.abort()
            connection = None
    if connection is not None:
        connection.writer.transport.abort()
    if reading is not None:
        await reading


async def _discard(connection: Connection) -> None:
    while await connection.read():
        pass
