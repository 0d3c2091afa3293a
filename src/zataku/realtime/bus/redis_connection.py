"""One connection to Redis, made anew whenever it breaks."""

import math
from collections.abc import Sequence
from typing import Any, cast

from redis.asyncio import Connection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from zataku.errors import InvalidRequest

ANSWER_WITHIN = 5.0
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0

BROKEN = (RedisError, OSError)
"""What a connection raises that is of no use any more."""


class RedisConnector:
    """Makes connections to the Redis of one URL."""

    def __init__(self, url: str) -> None:
        try:
            # Tried once: whoever uses the connection must know that it broke, since messages were lost then.
            self._pool = cast("Any", ConnectionPool).from_url(
                url,
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                socket_connect_timeout=ANSWER_WITHIN,
                socket_timeout=ANSWER_WITHIN,
            )
            self.open()
        except (ValueError, TypeError):
            # What is wrong with it may be a part of the password, which belongs into no message.
            raise InvalidRequest("The URL of the bus cannot be read. Write redis://HOST:PORT/DB.") from None

    def open(self) -> "RedisConnection":
        """A connection that is not made yet."""
        return RedisConnection(cast("Connection", self._pool.make_connection()))


class RedisConnection:
    """A connection over which commands go out and answers come back, apart from each other."""

    def __init__(self, connection: Connection) -> None:
        self._connection: Any = connection

    async def connect(self) -> None:
        """Make the connection."""
        await self._connection.connect()

    async def send(self, commands: Sequence[tuple[str | bytes, ...]]) -> None:
        """Send commands in one go."""
        await self._connection.send_packed_command(self._connection.pack_commands(commands), check_health=False)

    async def answer(self) -> object:
        """The next answer, which must come soon."""
        return await self._connection.read_response()

    async def next(self) -> object:
        """The next answer, however long that takes."""
        return await self._connection.read_response(timeout=math.inf)

    async def close(self) -> None:
        """End the connection."""
        try:
            await self._connection.disconnect(nowait=True)
        except BROKEN:
            pass


def pause_after(failures: int) -> float:
    """How many seconds to wait after so many failures."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures, 10))
