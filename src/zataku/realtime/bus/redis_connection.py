"""One connection to Redis, opened again by its user when it breaks."""

import math
from collections.abc import Sequence
from typing import Any, cast

from redis.asyncio import Connection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from zataku.errors import InvalidRequest

REPLY_TIMEOUT_SECONDS = 5.0
MIN_RETRY_SECONDS = 0.1
MAX_RETRY_SECONDS = 2.0

CONNECTION_ERRORS = (RedisError, OSError)
"""What a broken connection raises."""


class RedisConnector:
    """Makes connections to the Redis of one URL."""

    def __init__(self, url: str) -> None:
        try:
            # Without retries: the user of a connection must know that it broke, since messages were lost then.
            self._pool = cast("Any", ConnectionPool).from_url(
                url,
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                socket_connect_timeout=REPLY_TIMEOUT_SECONDS,
                socket_timeout=REPLY_TIMEOUT_SECONDS,
            )
            self._make()
        except (ValueError, TypeError):
            # The invalid part may be a piece of the password, which belongs into no message.
            raise InvalidRequest("The URL of the bus cannot be read. Write redis://HOST:PORT/DB.") from None

    async def connect(self) -> "RedisConnection":
        """An open connection. Raises `CONNECTION_ERRORS`."""
        connection = self._make()
        await connection.connect()
        return connection

    def _make(self) -> "RedisConnection":
        return RedisConnection(cast("Connection", self._pool.make_connection()))


class RedisConnection:
    """A connection over which commands go out and replies come back independently."""

    def __init__(self, connection: Connection) -> None:
        self._connection: Any = connection

    async def connect(self) -> None:
        """Open the connection."""
        await self._connection.connect()

    async def send(self, commands: Sequence[tuple[str | bytes, ...]]) -> None:
        """Send commands in one write."""
        await self._connection.send_packed_command(self._connection.pack_commands(commands), check_health=False)

    async def read_reply(self) -> object:
        """The next reply, which must come within `REPLY_TIMEOUT_SECONDS`."""
        return await self._connection.read_response()

    async def read_message(self) -> object:
        """The next reply, however long that takes."""
        return await self._connection.read_response(timeout=math.inf)

    async def close(self) -> None:
        """Close the connection."""
        try:
            await self._connection.disconnect(nowait=True)
        except CONNECTION_ERRORS:
            pass


def retry_delay(failures: int) -> float:
    """How many seconds to wait after so many failures."""
    return min(MAX_RETRY_SECONDS, MIN_RETRY_SECONDS * 2 ** min(failures, 10))
