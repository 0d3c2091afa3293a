"""Queue of calls in front of one of the store's threads, and the futures that the thread resolves.

Callers run on any event loop of any thread. The calls of one batch are resolved together: one wake-up for each event
loop, however many calls the batch has.
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

# The argument that the thread passes to the work: an open write group, or a read session.
Context = TypeVar("Context")
Result = TypeVar("Result")

MAX_QUEUED_CALLS = 4096
MAX_BATCH_CALLS = 512
MAX_BATCH_BYTES = 8 * 1024 * 1024
_MAX_PENDING_CALLS = 64


class QueuedCall(Generic[Context]):
    """Work for the thread, and the future of its caller. An exclusive call shares no transaction with others."""

    __slots__ = ("error", "exclusive", "future", "loop", "result", "size", "work")

    def __init__(
        self,
        work: Callable[[Context], Any],
        loop: asyncio.AbstractEventLoop | None,
        future: "asyncio.Future[Any] | Future[Any]",
        size: int,
        exclusive: bool,
    ) -> None:
        self.work = work
        self.loop = loop
        self.future = future
        self.size = size
        self.exclusive = exclusive
        self.result: Any = None
        self.error: BaseException | None = None


class CallQueue(Generic[Context]):
    """Calls in order of arrival, taken in batches by one thread."""

    def __init__(self, max_batch_calls: int = MAX_BATCH_CALLS) -> None:
        self._max_batch_calls = max_batch_calls
        self._queue: SimpleQueue[QueuedCall[Context] | None] = SimpleQueue()
        self._next: QueuedCall[Context] | None = None
        self._pending: dict[asyncio.AbstractEventLoop, list[QueuedCall[Context]]] = {}
        self._blocked: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()
        self._lock = Lock()
        self._closed: TableError | None = None

    async def run(self, work: Callable[[Context], Result], size: int = 0) -> Result:
        """Result of the work, done by the queue's thread; waits while the queue is full."""
        if self._is_full:
            await self._wait_for_space()
        return await self.submit(work, size)

    def submit(self, work: Callable[[Context], Result], size: int = 0) -> "asyncio.Future[Result]":
        """Queue work; the future is resolved when the thread has done it."""
        if self._closed is not None:
            raise copy_of(self._closed)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        call = QueuedCall(work, loop, future, size, False)
        # Calls made in the same turn of a loop are queued together, at its end. Woken by the first of them, the thread
        # would commit for that one alone, and would compete with the loop for Python's lock over all the others.
        pending = self._pending.get(loop)
        if pending is None:
            self._pending[loop] = [call]
            loop.call_soon(self._enqueue_pending, loop)
        else:
            pending.append(call)
            if len(pending) >= _MAX_PENDING_CALLS:
                self._enqueue_pending(loop)
        return future

    def run_exclusive(self, work: Callable[[Context], Result]) -> "Future[Result]":
        """Queue exclusive work from a thread without an event loop."""
        future: Future[Result] = Future()
        self._enqueue(QueuedCall(work, None, future, 0, True))
        return future

    def _enqueue_pending(self, loop: asyncio.AbstractEventLoop) -> None:
        calls = self._pending.pop(loop, ())
        try:
            self._enqueue(*calls)
        except TableError as closed:
            for call in calls:
                call.error = copy_of(closed)
            _set_results(calls)

    def _enqueue(self, *calls: QueuedCall[Context]) -> None:
        # Without the lock a call could be queued behind the end marker and wait forever.
        with self._lock:
            if self._closed is not None:
                raise copy_of(self._closed)
            for call in calls:
                self._queue.put(call)

    @property
    def _is_full(self) -> bool:
        return self._queue.qsize() >= MAX_QUEUED_CALLS

    async def _wait_for_space(self) -> None:
        loop = asyncio.get_running_loop()
        while self._is_full:
            space: asyncio.Future[None] = loop.create_future()
            self._blocked.append((loop, space))
            # The thread may have emptied the queue just before; then nothing would resolve the future.
            if self._is_full:
                await space

    def close(self, error: TableError) -> None:
        """Refuse further calls with the error. Queued calls are still served."""
        with self._lock:
            if self._closed is None:
                self._closed = error
                self._queue.put(None)

    def next_batch(self, timeout: float | None = None) -> list[QueuedCall[Context]] | None:
        """The calls to serve together next; empty when none came in time, None when the queue is closed and empty."""
        queue = self._queue
        first = self._next
        self._next = None
        if first is None:
            try:
                first = queue.get() if timeout is None else queue.get(timeout > 0, timeout)
            except Empty:
                return []
            if first is None:
                return None
        calls = [first]
        if not first.exclusive:
            self._fill_batch(calls)
        if self._blocked:
            self._wake_blocked()
        return calls

    def _fill_batch(self, calls: list[QueuedCall[Context]]) -> None:
        queue = self._queue
        size = calls[0].size
        while size < MAX_BATCH_BYTES and len(calls) < self._max_batch_calls:
            try:
                call = queue.get_nowait()
            except Empty:
                return
            if call is None:
                # The end marker is taken again after this batch.
                queue.put(None)
                return
            if call.exclusive:
                self._next = call
                return
            calls.append(call)
            size += call.size

    def _wake_blocked(self) -> None:
        while self._blocked:
            loop, space = self._blocked.popleft()
            _call_on(loop, _set_done, space)

    def fail_all(self, error: TableError) -> None:
        """Close the queue and fail every queued call; for a thread that cannot continue."""
        self.close(error)
        calls: list[QueuedCall[Context]] = []
        if self._next is not None:
            calls.append(self._next)
            self._next = None
        while True:
            try:
                call = self._queue.get_nowait()
            except Empty:
                break
            if call is not None:
                calls.append(call)
        fail(calls, error)
        resolve(calls)
        self._wake_blocked()


class ChangeListeners:
    """Futures of readers that wait for the next change of a table, on any event loop."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._futures: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]]] = {}

    def next_change(self, table: str) -> "asyncio.Future[None]":
        """A future that is resolved at the next change of the table."""
        loop = asyncio.get_running_loop()
        change: asyncio.Future[None] = loop.create_future()
        with self._lock:
            # Cancelled futures are dropped here, so that they do not pile up for a table without changes.
            waiting = [listener for listener in self._futures.get(table, []) if not listener[1].done()]
            self._futures[table] = [*waiting, (loop, change)]
        return change

    def notify(self, tables: set[str]) -> None:
        """Resolve the futures of these tables."""
        if not self._futures:
            return
        with self._lock:
            waiting = [listener for table in tables for listener in self._futures.pop(table, [])]
        for loop, change in waiting:
            _call_on(loop, _set_done, change)

    def notify_all(self) -> None:
        """Resolve every future, so that readers notice that the store is closed."""
        self.notify(set(self._futures))


def execute(call: QueuedCall[Context], context: Context) -> None:
    """Do the work of one call and keep its result or error.

    Errors of SQLite are raised: they concern the file, so the thread that runs the call has to handle them.
    """
    try:
        call.result = call.work(context)
    except apsw.Error:
        raise
    except Exception as error:  # noqa: BLE001 - it is handed to the caller
        call.error = error


def fail(calls: Iterable[QueuedCall[Any]], error: BaseException) -> None:
    """Give every call the error instead of its result."""
    for call in calls:
        call.error = error


def resolve(calls: Iterable[QueuedCall[Any]]) -> None:
    """Resolve the future of every call, waking each event loop once."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[QueuedCall[Any]]] = {}
    for call in calls:
        earlier = by_loop.get(call.loop)
        if earlier is None:
            by_loop[call.loop] = [call]
        else:
            earlier.append(call)
    for loop, calls_of_loop in by_loop.items():
        if loop is None:
            _set_results(calls_of_loop)
        else:
            _call_on(loop, _set_results, calls_of_loop)


def copy_of(error: TableError) -> TableError:
    """A fresh copy of an error that is raised many times, so that its tracebacks do not pile up."""
    return type(error)(error.message, **error.details)


def _call_on(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], argument: object) -> None:
    try:
        loop.call_soon_threadsafe(callback, argument)
    except RuntimeError:
        # The loop is closed, and its callers with it.
        pass


def _set_results(calls: Iterable[QueuedCall[Any]]) -> None:
    for call in calls:
        future = call.future
        if future.done():
            continue
        if call.error is None:
            future.set_result(call.result)
        else:
            future.set_exception(call.error)


def _set_done(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
