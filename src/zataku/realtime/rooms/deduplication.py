"""Carrying out a command once, although its process asks again because no reply came."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from zataku.clock import Clock
from zataku.realtime.rooms.actor import Answer

REMEMBERED = 30.0


class CommandDeduplicator:
    """The commands of the last half minute by their marks, with what came of them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: dict[str, asyncio.Task[Answer]] = {}
        self._order: deque[tuple[float, str]] = deque()

    async def only(self, mark: str, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """What came of the command of that mark, which is carried out unless it was already."""
        now = self._clock.now()
        while self._order and self._order[0][0] < now - REMEMBERED:
            self._answers.pop(self._order.popleft()[1], None)
        answer = self._answers.get(mark)
        if answer is None:
            answer = self._answers[mark] = asyncio.create_task(_done(work))
            answer.add_done_callback(_noticed)
            self._order.append((now, mark))
        return await asyncio.shield(answer)


def _noticed(answer: asyncio.Task[Answer]) -> None:
    """A refusal that nobody waits for any more is nothing to worry about."""
    if not answer.cancelled():
        answer.exception()


async def _done(work: Callable[[], Awaitable[Answer]]) -> Answer:
    return await work()
