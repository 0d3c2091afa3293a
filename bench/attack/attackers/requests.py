"""HTTP requests that are malformed, slow, endless or too many at once."""

import asyncio
from random import Random

from bench.attack.connections import Connection, connect, connected
from bench.attack.outcome import CLOSED, Outcome
from bench.attack.pace import Bounds, gather_bounded, paced, source_address
from bench.attack.target import Target

BYTES_PER_SECOND = 1_700_000
_TURNS_PER_SECOND = 50
_FAMILY = 1
_CHUNK = b"1\r\nx\r\n"
_CHUNKED = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
_HOST = b"Host: 127.0.0.1\r\n"

MALFORMED = (
    b"GET /api/home\r\n\r\n",
    b"GET /api/home HTTP/0.9\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\nHost: a b\x00c\r\n\r\n",
    b"GET /api/home HTTP/3.0\r\n" + _HOST + b"\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET /%ff%fe/%00/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET /../../../../etc/passwd HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET http:// HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET http://[::1 HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET * HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"OPTIONS * HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"CONNECT example.org:443 HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"TRACE / HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"get /api/home HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"G\x00T /api/home HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100 + b"\r\n\r\n",
    b"\r\n" * 1000,
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Content-Length: -1\r\n\r\n",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Content-Length: 1e3\r\n\r\n",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n\r\n",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n",
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"x" * 100_000,
    b"POST /api/live/rooms HTTP/1.1\r\n" + _HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 20_000,
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b"A: b\r\n folded\r\n\tagain\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b" : empty\r\nNo colon\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n",
    b"GET /api/home HTTP/1.1\n" + b"Host: 127.0.0.1\n\n",
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b"Range: bytes=0-0,1-1,2-2\r\nIf-None-Match: \xff\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b"Cookie: zataku_guest=" + b"\xff;" * 200 + b"\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b"Authorization: Bearer \xff\xfe\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b"Accept-Language: " + b"ja;q=0.1," * 800 + b"\r\n\r\n",
    b"GET /api/home HTTP/1.1\r\n" + _HOST + b"X-Forwarded-For: " + b"1.2.3.4, " * 400 + b"\r\n\r\n",
)
"""Requests that need an answer or a closed connection, and nothing else."""


async def one_byte_chunks(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Bodies in chunks of one byte, for paths that exist and for one that does not."""
    outcome = Outcome()
    heads = [_CHUNKED % path for path in (b"/nope", b"/api/live/rooms", b"/nope")]
    batch = max(1, BYTES_PER_SECOND // bounds.connections // _TURNS_PER_SECOND // len(_CHUNK))

    async def work(number: int) -> None:
        connection: Connection | None = None
        async for _ in paced(bounds.messages // bounds.connections // batch + 1, _TURNS_PER_SECOND, bounds.seconds):
            if connection is None:
                connection = await connect(target.port, source_address(_FAMILY, number), outcome)
                if connection is None:
                    continue
                await connection.send(heads[number % len(heads)])
            if not await connection.send(_CHUNK * batch, batch):
                outcome.answer(CLOSED)
                connection.writer.transport.abort()
                connection = None
        if connection is not None:
            await connection.expect_answer(heads[number % len(heads)])
            connection.writer.transport.abort()

    await gather_bounded(bounds.connections, work)
    return outcome


async def pipelined_requests(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Many requests in one write, whose responses are read late or never."""
    outcome = Outcome()
    depth = 50
    paths = (b"/api/home", b"/openapi.json", b"/nope", b"/api/live/rooms/" + target.archive_id.encode() + b"/comments")
    rounds = max(1, bounds.messages // bounds.connections // depth)

    async def work(number: int) -> None:
        request = b"GET %b HTTP/1.1\r\n%b\r\n" % (paths[number % len(paths)], _HOST)
        async for turn in paced(rounds, rounds / bounds.seconds, bounds.seconds):
            source = source_address(_FAMILY, 20 + number)
            async with connected(target.port, source, outcome, receive_buffer=4096) as connection:
                if connection is None or not await connection.send(request * depth, depth):
                    continue
                await asyncio.sleep(0.5)
                if (number + turn) % 2:
                    for _ in range(depth):
                        if await connection.expect_answer(request) is None:
                            break

    await gather_bounded(bounds.connections, work)
    return outcome


async def malformed_requests(target: Target, bounds: Bounds, random: Random) -> Outcome:
    """Requests that violate HTTP, whole, byte by byte, and followed by a valid one."""
    outcome = Outcome()

    async def work(number: int) -> None:
        count = bounds.messages // bounds.connections
        async for turn in paced(count, count / bounds.seconds, bounds.seconds):
            content = MALFORMED[(number + turn * bounds.connections) % len(MALFORMED)]
            async with connected(target.port, source_address(_FAMILY, 60 + number), outcome) as connection:
                if connection is None:
                    continue
                step = 1 if len(content) < 300 and random.random() < 0.2 else len(content)
                for at in range(0, len(content), step):
                    if not await connection.send(content[at : at + step], 0):
                        break
                outcome.messages += 1
                await connection.expect_answer(content)

    await gather_bounded(bounds.connections, work)
    return outcome


async def slow_requests(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Headers and bodies that arrive a byte at a time and never end; every connection must be answered or closed."""
    outcome = Outcome()
    heads = (
        b"GET /api/home HTTP/1.1\r\n" + _HOST + b"X-Slow: ",
        b"POST /api/live/rooms HTTP/1.1\r\n"
        + _HOST
        + b"Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n",
        _CHUNKED % b"/api/live/rooms",
        b"POST /nope HTTP/1.1\r\n" + _HOST + b"Content-Length: 9999\r\n\r\n",
        b"",
    )

    async def work(number: int) -> None:
        head = heads[number % len(heads)]
        async with connected(target.port, source_address(_FAMILY, 100 + number // 100), outcome) as connection:
            if connection is None:
                return
            answer = asyncio.create_task(connection.expect_answer(head))
            await connection.send(head)
            while not answer.done() and outcome.messages < bounds.messages:
                await asyncio.wait([answer], timeout=1)
                await connection.send(_CHUNK if b"chunked" in head else b"x")
            await answer

    await gather_bounded(bounds.connections, work)
    return outcome
