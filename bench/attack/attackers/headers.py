"""Requests and WebSocket upgrades with too many, too long or contradicting headers."""

import asyncio
from random import Random

from bench.attack.connections import connected
from bench.attack.outcome import Outcome
from bench.attack.pace import Bounds, paced, source_address
from bench.attack.target import Target

ANSWER_SECONDS = 30.0
"""Headers that never end are cut off after 15 seconds."""
_FAMILY = 2
_PLAIN = b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n"
_UPGRADE = (
    b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)

HEADERS = (
    *(b"".join(b"X-H%d: y\r\n" % number for number in range(count)) for count in (90, 121, 122, 123, 129, 200, 1000)),
    *(b"X-Long: %b\r\n" % (b"x" * size) for size in (4000, 8000, 8192, 9000, 16_000, 33_000, 70_000, 300_000)),
    *(b"Cookie: zataku_guest=%b\r\n" % (b"c" * size) for size in (4000, 8200, 20_000, 40_000)),
    b"X-Long: %b\r\n" % (b"x" * 8000) * 5,
    b"Content-Length: 0\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 5\r\n\r\nhello",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    b"Expect: 100-continue\r\nContent-Length: 5\r\n",
    b"Sec-WebSocket-Key: again\r\nSec-WebSocket-Version: 12\r\n",
    b"Sec-WebSocket-Extensions: %b\r\n" % (b"permessage-deflate; x=1, " * 200),
    b"Sec-WebSocket-Protocol: %b\r\n" % (b"p, " * 2000),
    b"Sec-WebSocket-Version: \xff\r\n",
    b"Origin: http://attacker.example\r\n",
    b"Connection: close\r\nUpgrade: h2c\r\n",
    b"X-Null: a\0b\r\n",
    b"X-Control: a\x01b\r\n",
)
TARGETS = (b"/socket", b"/api/home", b"/nope")
LONG_TARGETS = tuple(b"/socket?%b" % (b"q" * size) for size in (7000, 8200, 20_000, 70_000))


def requests() -> list[bytes]:
    """Every combination of a plain request or an upgrade with a target and headers."""
    heads = [kind % target + extra for kind in (_UPGRADE, _PLAIN) for target in TARGETS for extra in HEADERS]
    heads += [kind % target for kind in (_UPGRADE, _PLAIN) for target in LONG_TARGETS]
    return [head + b"\r\n" for head in heads]


async def hostile_headers(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Every request of hostile headers, again and again; each must be answered or closed."""
    outcome = Outcome()
    contents = requests()
    slots = asyncio.Semaphore(bounds.connections)

    async def exchange(number: int) -> None:
        content = contents[number % len(contents)]
        async with slots, connected(target.port, source_address(_FAMILY, number), outcome) as connection:
            if connection is None:
                return
            # The server may answer and close before it has read everything.
            await connection.send(content)
            await connection.expect_answer(content, ANSWER_SECONDS)

    async with asyncio.TaskGroup() as group:
        async for number in paced(bounds.messages, bounds.messages / bounds.seconds, bounds.seconds):
            group.create_task(exchange(number))
    return outcome
