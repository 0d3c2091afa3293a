"""The line of calls that wait for one of the store's threads.

Callers stand on any event loop of any thread. What a thread took out together it answers together: one wake-up for each
event loop, however many calls were served.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Generic, TypeVar

import apsw

from zataku.table.backend.errors import TableError

Desk = TypeVar("Desk")
Result = TypeVar("Result")

MOST_WAITING = 4096
GROUP_CALLS = 512
_TOGETHER = 64
GROUP_BYTES = 8 * 1024 * 1024


class Call(Generic[Desk]):
    """One piece of work and whoever waits for it. `alone` work shares no transaction with others."""

    __slots__ = ("alone", "error", "future", "loop", "result", "weight", "work")

    def __init__(
        self,
        work: Callable[[Desk], Any],
        loop: asyncio.AbstractEventLoop | None,
        future: "asyncio.Future[Any] | Future[Any]",
        weight: int,
        alone: bool,
    ) -> None:
        self.work = work
        self.loop = loop
        self.future = future
        self.weight = weight
        self.alone = alone
        self.result: Any = None
        self.error: BaseException | None = None


class Line(Generic[Desk]):
    """Calls in the order they came."""

    def __init__(self, most: int = GROUP_CALLS) -> None:
        self._most = most
        self._queue: SimpleQueue[Call[Desk] | None] = SimpleQueue()
        self._held: Call[Desk] | None = None
        self._coming: dict[asyncio.AbstractEventLoop, list[Call[Desk]]] = {}
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()
        self._gate = Lock()
        self._refusal: TableError | None = None

    def submit(self, work: Callable[[Desk], Result], weight: int = 0, alone: bool = False) -> "asyncio.Future[Result]":
        """Join the line; the future is answered when the work is done."""
        if self._refusal is not None:
            raise again(self._refusal)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        call = Call(work, loop, future, weight, alone)
        # Those who call in the same turn of a loop join together, at its end. Woken by the first of them, the thread
        # would commit for that one alone, and would fight the loop for Python's lock over all the others.
        coming = self._coming.get(loop)
        if coming is None:
            self._coming[loop] = [call]
            loop.call_soon(self._join_together, loop)
        else:
            coming.append(call)
            if len(coming) >= _TOGETHER:
                self._join_together(loop)
        return future

    def _join_together(self, loop: asyncio.AbstractEventLoop) -> None:
        calls = self._coming.pop(loop, ())
        try:
            self._join(*calls)
        except TableError as refusal:
            for call in calls:
                call.error = again(refusal)
            _settle(calls)

    def post(self, work: Callable[[Desk], Result]) -> "Future[Result]":
        """Join the line from a thread without event loop, for work that runs alone."""
        future: Future[Result] = Future()
        self._join(Call(work, None, future, 0, True))
        return future

    def _join(self, *calls: Call[Desk]) -> None:
        # Without the gate a call could slip in behind the end of the line and wait for ever.
        with self._gate:
            if self._refusal is not None:
                raise again(self._refusal)
            for call in calls:
                self._queue.put(call)

    @property
    def crowded(self) -> bool:
        """True when callers should wait before they join."""
        return self._queue.qsize() >= MOST_WAITING

    async def room(self) -> None:
        """Wait until the line is short again."""
        loop = asyncio.get_running_loop()
        while self.crowded:
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, turn))
            # The thread may have emptied the line just before we began to wait; then nobody would wake us.
            if self.crowded:
                await turn

    def end(self, refusal: TableError) -> None:
        """Let nobody in any more. Those who stand in the line are still served."""
        with self._gate:
            if self._refusal is None:
                self._refusal = refusal
                self._queue.put(None)

    @property
    def empty(self) -> bool:
        """True when nobody waits."""
        return self._held is None and self._queue.empty()

    def take(self, patience: float | None = None) -> list[Call[Desk]] | None:
        """Those who are served together next; nobody when none came in time; None when the line has ended."""
        queue = self._queue
        first = self._held
        self._held = None
        if first is None:
            try:
                first = queue.get() if patience is None else queue.get(patience > 0, patience)
            except Empty:
                return []
            if first is None:
                return None
        calls = [first]
        if not first.alone:
            self._gather(calls)
        if self._waiting:
            self._let_in()
        return calls

    def _gather(self, calls: list[Call[Desk]]) -> None:
        queue = self._queue
        weight = calls[0].weight
        while weight < GROUP_BYTES and len(calls) < self._most:
            try:
                call = queue.get_nowait()
            except Empty:
                return
            if call is None:
                # The end is met again after this group.
                queue.put(None)
                return
            if call.alone:
                self._held = call
                return
            calls.append(call)
            weight += call.weight

    def _let_in(self) -> None:
        while self._waiting:
            loop, turn = self._waiting.popleft()
            _on(loop, _wake, turn)

    def abandon(self, error: TableError) -> None:
        """Answer everyone who still waits with the error; for a thread that cannot go on."""
        self.end(error)
        calls: list[Call[Desk]] = []
        if self._held is not None:
            calls.append(self._held)
            self._held = None
        while True:
            try:
                call = self._queue.get_nowait()
            except Empty:
                break
            if call is not None:
                call.error = error
                calls.append(call)
        for call in calls:
            call.error = error
        answer(calls)
        self._let_in()


async def served(line: Line[Desk], work: Callable[[Desk], Result], weight: int = 0) -> Result:
    """Have work done by the line's thread, after waiting for room in the line."""
    if line.crowded:
        await line.room()
    return await line.submit(work, weight)


def answer(calls: Iterable[Call[Any]]) -> None:
    """Hand every call its result or error, waking each event loop once."""
    loops: dict[asyncio.AbstractEventLoop | None, list[Call[Any]]] = {}
    for call in calls:
        here = loops.get(call.loop)
        if here is None:
            loops[call.loop] = [call]
        else:
            here.append(call)
    for loop, ours in loops.items():
        if loop is None:
            _settle(ours)
        else:
            _on(loop, _settle, ours)


def again(error: TableError) -> TableError:
    """A fresh copy of an error that is raised many times, so that its tracebacks do not pile up."""
    return type(error)(error.message, **error.details)


def wake(loop: asyncio.AbstractEventLoop, future: "asyncio.Future[None]") -> None:
    """Tell someone on another thread's loop that it is time."""
    _on(loop, _wake, future)


def _on(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], argument: object) -> None:
    try:
        loop.call_soon_threadsafe(callback, argument)
    except RuntimeError:
        # The loop was closed: nobody is left to be told.
        pass


def _settle(calls: Iterable[Call[Any]]) -> None:
    for call in calls:
        future = call.future
        if future.done():
            continue
        if call.error is None:
            future.set_result(call.result)
        else:
            future.set_exception(call.error)


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def run(call: Call[Desk], desk: Desk) -> None:
    """Do the work of one call and keep what came of it; what goes wrong concerns this call alone.

    Errors of SQLite are let through: they concern the file, so whoever runs the call must judge them.
    """
    try:
        call.result = call.work(desk)
    except apsw.Error:
        raise
    except Exception as error:  # noqa: BLE001 - it is handed to the caller
        call.error = error
