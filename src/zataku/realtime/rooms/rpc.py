"""Calls to the owner of a room in another process: sending, waiting for replies, and executing each command once."""

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from zataku.clock import Clock
from zataku.errors import (
    INTERNAL_FAILURE,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    OutcomeUnknown,
    PayloadTooLarge,
    RateLimited,
    RequestError,
    StorageFull,
    Unauthorized,
    Unavailable,
)
from zataku.realtime.rooms.actor import CommandResult
from zataku.realtime.rooms.bus_messages import CallReply, RemoteError, RpcMessage, encode
from zataku.realtime.rooms.context import RoomContext, RoomMoved, process_channel

REPLY_TIMEOUT_SECONDS = 3.0
"""Without a reply for so long, the call or its reply counts as lost."""
DEDUPLICATION_SECONDS = 30.0

CallFactory: TypeAlias = Callable[[int], RpcMessage]
"""Makes the message of a call from its id."""

# One sequence for all rooms: a new caller must not take a late reply to an earlier call for its own.
_call_ids = itertools.count(1)


class _InternalError(RequestError):
    """The owner failed on the call."""

    status, default_code = 500, "internal"


_ERRORS_BY_STATUS: dict[int, type[RequestError]] = {
    kind.status: kind
    for kind in (
        RequestError,
        InvalidRequest,
        Unauthorized,
        Forbidden,
        NotFound,
        Conflict,
        PayloadTooLarge,
        StorageFull,
        Unavailable,
        _InternalError,
    )
}

INTERNAL_ERROR = RemoteError(status=500, problem=_InternalError(INTERNAL_FAILURE).problem)


class RpcClient:
    """The calls of this process about one room that have no reply yet."""

    def __init__(self, context: RoomContext) -> None:
        self._context = context
        self._open: dict[int, tuple[float, asyncio.Future[CallReply]]] = {}

    def send(self, process: str, message: RpcMessage) -> None:
        """Send a message that has no reply."""
        self._context.bus.publish(process_channel(process), encode(message))

    async def call(self, process: str, make_message: CallFactory) -> CallReply:
        """The reply to a call. Raises its error, or `RoomMoved` when the process is not the owner or does not reply."""
        call_id = next(_call_ids)
        future: asyncio.Future[CallReply] = asyncio.get_running_loop().create_future()
        self._open[call_id] = (self._context.clock.now() + REPLY_TIMEOUT_SECONDS, future)
        try:
            self.send(process, make_message(call_id))
            reply = await future
        finally:
            del self._open[call_id]
        if reply.has_moved:
            raise RoomMoved(maybe_executed=reply.maybe_executed)
        if reply.error is not None:
            raise decode_error(reply.error)
        return reply

    def receive(self, reply: CallReply) -> None:
        """Give a reply to its caller."""
        _, future = self._open.get(reply.id, (0, None))
        if future is not None and not future.done():
            future.set_result(reply)

    def expire(self, now: float | None = None) -> None:
        """Fail the calls whose deadline has passed; without a time, all of them."""
        for deadline, future in self._open.values():
            if (now is None or deadline <= now) and not future.done():
                future.set_exception(RoomMoved(maybe_executed=True))


class CommandDeduplicator:
    """The results of the last half minute's commands by their ids, so that a repeated call executes nothing twice."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._results: dict[str, asyncio.Task[CommandResult]] = {}
        self._order: deque[tuple[float, str]] = deque()

    async def execute_once(self, command_id: str, execute: Callable[[], Awaitable[CommandResult]]) -> CommandResult:
        """The result of the command with that id, which is executed unless it was already."""
        now = self._clock.now()
        while self._order and self._order[0][0] < now - DEDUPLICATION_SECONDS:
            self._results.pop(self._order.popleft()[1], None)
        result = self._results.get(command_id)
        if result is None:
            result = self._results[command_id] = asyncio.create_task(_await(execute))
            result.add_done_callback(_retrieve_exception)
            self._order.append((now, command_id))
        return await asyncio.shield(result)


def encode_error(error: RequestError) -> RemoteError:
    """An error in the form that crosses the bus."""
    return RemoteError(status=error.status, problem=error.problem)


def decode_error(error: RemoteError) -> RequestError:
    """The error that the owner raised, with its status and code."""
    problem = error.problem
    details = dict(problem.details)
    if error.status == RateLimited.status:
        after = details.pop("retry_after", 1.0)
        seconds = float(after) if isinstance(after, int | float) else 1.0
        return RateLimited(problem.message, retry_after=seconds, code=problem.code, **details)
    if problem.code == OutcomeUnknown.default_code:
        return OutcomeUnknown(problem.message, code=problem.code, **details)
    return _ERRORS_BY_STATUS.get(error.status, RequestError)(problem.message, code=problem.code, **details)


async def _await(execute: Callable[[], Awaitable[CommandResult]]) -> CommandResult:
    return await execute()


def _retrieve_exception(task: asyncio.Task[CommandResult]) -> None:
    """Mark an error as seen: its callers may have stopped waiting."""
    if not task.cancelled():
        task.exception()
