"""Letters to the owner of a room in another process, and the wait for its replies."""

import asyncio
import itertools
from collections.abc import Callable
from typing import TypeAlias

from zataku.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    OutcomeUnknown,
    PayloadTooLarge,
    RateLimited,
    RequestError,
    Unauthorized,
    Unavailable,
)
from zataku.realtime.rooms.bus_messages import CallReply, Letter, Refusal, encode
from zataku.realtime.rooms.context import RoomContext, process_channel
from zataku.realtime.rooms.moved import RoomMoved

REPLY_WITHIN = 3.0
"""So many seconds without a reply, and the question or the reply counts as lost."""

Question: TypeAlias = Callable[[int], Letter]

# One sequence for all: whoever follows an owner anew must not take a late reply to an earlier question for its own.
_ids = itertools.count(1)


class _Broken(RequestError):
    """Another process came to grief over it."""

    status, default_code = 500, "internal"


_BY_STATUS: dict[int, type[RequestError]] = {
    kind.status: kind
    for kind in (
        RequestError,
        InvalidRequest,
        Unauthorized,
        Forbidden,
        NotFound,
        Conflict,
        PayloadTooLarge,
        Unavailable,
        _Broken,
    )
}

BROKEN = Refusal(status=500, problem=_Broken("Something went wrong on our side. Try again in a moment.").problem)


class RpcClient:
    """The questions of this process about one room that are still open."""

    def __init__(self, context: RoomContext) -> None:
        self._context = context
        self._open: dict[int, tuple[float, asyncio.Future[CallReply]]] = {}

    def write(self, to: str, letter: Letter) -> None:
        """Send something that needs no reply."""
        self._context.bus.send(process_channel(to), encode(letter))

    async def ask(self, to: str, question: Question) -> CallReply:
        """The reply to a call. Raises its error, or `RoomMoved` when the room is not there or no reply comes."""
        number = next(_ids)
        answer: asyncio.Future[CallReply] = asyncio.get_running_loop().create_future()
        self._open[number] = (self._context.clock.now() + REPLY_WITHIN, answer)
        try:
            self.write(to, question(number))
            reply = await answer
        finally:
            del self._open[number]
        if reply.moved:
            raise RoomMoved(perhaps=reply.perhaps)
        if reply.refusal is not None:
            raise refused(reply.refusal)
        return reply

    def take(self, reply: CallReply) -> None:
        """A reply has come."""
        _, answer = self._open.get(reply.id, (0, None))
        if answer is not None and not answer.done():
            answer.set_result(reply)

    def give_up(self, now: float | None = None) -> None:
        """Wait no longer for what should have come by now; without a time, for nothing at all."""
        for deadline, answer in self._open.values():
            if (now is None or deadline <= now) and not answer.done():
                answer.set_exception(RoomMoved(perhaps=True))


def refusal(problem: RequestError) -> Refusal:
    """A refusal as it travels."""
    return Refusal(status=problem.status, problem=problem.problem)


def refused(refusal: Refusal) -> RequestError:
    """A refusal as it is raised, with the status and the code that it had."""
    problem = refusal.problem
    details = dict(problem.details)
    if refusal.status == RateLimited.status:
        after = details.pop("retry_after", 1.0)
        seconds = float(after) if isinstance(after, int | float) else 1.0
        return RateLimited(problem.message, retry_after=seconds, code=problem.code, **details)
    kind = (
        OutcomeUnknown if problem.code == OutcomeUnknown.default_code else _BY_STATUS.get(refusal.status, RequestError)
    )
    return kind(problem.message, code=problem.code, **details)
