"""Comments of many guests from one address, and comments that are costly to check."""

import asyncio
from random import Random

import msgspec

from bench.attack.attackers.crowds import count_replies
from bench.attack.attackers.frames import TEXT, frame
from bench.attack.connections import Connection, close_all, open_socket
from bench.attack.outcome import Outcome
from bench.attack.pace import Bounds, gather_bounded, paced, source_address
from bench.attack.target import Target
from bench.live import comments

MAX_LENGTH = 500
_FAMILY = 4
_RATE = 1.0
"""Comments a second of one guest, which the limit of a person allows."""
_JOINS_PER_SECOND = 200

COSTLY = (
    "\ufdfa" * MAX_LENGTH,
    "a" + "\u0300\u0323\u0345\u0334" * 124,
    "\u0130" * MAX_LENGTH,
    "\u1f82" * MAX_LENGTH,
    "\u3316" * MAX_LENGTH,
    "\U0001d160" * MAX_LENGTH,
    "\uac01\u11a8" * (MAX_LENGTH // 2),
    "\u2057" * MAX_LENGTH,
)
"""The characters that become longest or slowest when case, width and composition are evened out."""

_encode = msgspec.json.Encoder().encode


async def crowd_behind_one_address(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Guests without end from one address, each within the limit of a person."""
    return await _comment(target, bounds, target.open_id, 0, ("Buy this now! %d",))


async def costly_comments(target: Target, bounds: Bounds, _random: Random) -> Outcome:
    """Comments of the costliest characters in a room with many blocked words."""
    return await _comment(target, bounds, target.moderated_id, 1, COSTLY)


async def _comment(target: Target, bounds: Bounds, room_id: str, address: int, contents: tuple[str, ...]) -> Outcome:
    outcome = Outcome()
    topic = f"live/{room_id}"

    async def work(number: int) -> None:
        await asyncio.sleep(number / _JOINS_PER_SECOND)
        connection = await open_socket(target.port, source_address(_FAMILY, address), outcome)
        if connection is None:
            return
        reading = asyncio.create_task(count_replies(connection))
        if await connection.send(frame(TEXT, comments.join(topic))):
            await _post(connection, bounds, topic, number, contents)
        close_all([connection])
        await reading

    await gather_bounded(bounds.connections, work)
    return outcome


async def _post(connection: Connection, bounds: Bounds, topic: str, number: int, contents: tuple[str, ...]) -> None:
    share = max(1, bounds.messages // bounds.connections)
    async for turn in paced(share, _RATE, bounds.seconds):
        content = contents[(number + turn) % len(contents)]
        command = {"k": "comment", "content": content % turn if "%d" in content else content}
        if not await connection.send(frame(TEXT, _encode({"t": "do", "id": turn, "to": topic, "what": command}))):
            return
