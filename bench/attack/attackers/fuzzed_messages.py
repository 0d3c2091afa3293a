"""Mutated messages of the socket protocol and of the commands of live rooms."""

import asyncio
from random import Random

import msgspec

from bench.attack.attackers.crowds import count_replies, random_id
from bench.attack.attackers.frames import BINARY, TEXT, frame
from bench.attack.connections import Connection, close_all, open_socket
from bench.attack.mutations import mutated_bytes, mutated_json
from bench.attack.outcome import Outcome
from bench.attack.pace import Bounds, gather_bounded, paced, source_address
from bench.attack.samples import SchemaSampler
from bench.attack.target import Target
from bench.live import comments
from zataku.live.messages import Command, React
from zataku.realtime.messages import ClientMessage

_FAMILY = 7
_ADDRESSES = 50
_MESSAGES_PER_SOCKET = 20
"""A message that cannot be read costs as much as four commands, and a socket that continues is closed."""
_REPLY_SECONDS = 0.1


class MessageFuzzer:
    """Makes text and binary frames near valid ones."""

    def __init__(self, target: Target, random: Random) -> None:
        topics = [f"live/{target.open_id}", f"live/{target.open_id}", f"live/{target.archive_id}", "home", "live/x"]
        known = {"to": topics, "commentId": [random_id(random)], "id": [1, 2, 3]}
        (message,), envelopes = msgspec.json.schema_components([ClientMessage], ref_template="#/{name}")
        (command,), commands = msgspec.json.schema_components([Command | React], ref_template="#/{name}")
        self._random, self._message, self._command = random, message, command
        self._messages = SchemaSampler(envelopes, random, known)
        self._commands = SchemaSampler(commands, random, {**known, "id": [random_id(random)]})

    def frame(self) -> bytes:
        """The next frame."""
        random = self._random
        if random.random() < 0.1:
            payload = random.choice((0, 1, 2, 65_535)).to_bytes(2) + random.randbytes(random.choice((0, 1, 40, 5000)))
            return frame(BINARY, payload)
        message = self._messages.value(self._message)
        if "what" in message:
            message["what"] = self._commands.value(self._command)
            if random.random() < 0.6:
                mutated = mutated_json(message.pop("what"), random)
                envelope = msgspec.json.encode(message)
                return frame(TEXT, envelope[:-1] + b',"what":' + mutated + b"}")
        content = mutated_json(message, random)
        return frame(TEXT, mutated_bytes(content, random) if random.random() < 0.1 else content)


async def fuzzed_messages(target: Target, bounds: Bounds, random: Random) -> Outcome:
    """Mutated messages on sockets that have joined a room; none may cause an internal failure."""
    outcome = Outcome()
    # One for each worker: the order in which they are answered differs from run to run.
    fuzzers = [MessageFuzzer(target, Random(random.getrandbits(64))) for _ in range(bounds.connections)]
    join = frame(TEXT, comments.join(f"live/{target.open_id}"))

    async def work(number: int) -> None:
        share = max(1, bounds.messages // bounds.connections // _MESSAGES_PER_SOCKET)
        async for turn in paced(share, share / bounds.seconds, bounds.seconds):
            source = source_address(_FAMILY, (number + turn) % _ADDRESSES)
            connection = await open_socket(target.port, source, outcome)
            if connection is not None:
                await _converse(connection, fuzzers[number], join)

    await gather_bounded(bounds.connections, work)
    return outcome


async def _converse(connection: Connection, fuzzer: MessageFuzzer, join: bytes) -> None:
    reading = asyncio.create_task(count_replies(connection))
    await connection.send(join)
    for _ in range(_MESSAGES_PER_SOCKET):
        if not await connection.send(fuzzer.frame()):
            break
        await asyncio.sleep(0)
    await asyncio.sleep(_REPLY_SECONDS)
    close_all([connection])
    await reading
