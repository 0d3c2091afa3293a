"""Links of the processes of a test to one store, which can be cut, and whose pending calls a test can wait for."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar, cast

from zataku.clock import Clock
from zataku.table import Backend, Store, StoreUnreachable

_QUIET_TURNS = 10


class StoreLink:
    """A connection to the store that can be cut: to the store, a process behind a cut link looks killed."""

    pending_calls: ClassVar[set[asyncio.Future[None]]] = set()
    """The pending calls over all links, except those that wait for changes."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.cut = False

    def __getattr__(self, name: str) -> Any:
        if self.cut:
            raise StoreUnreachable("The link is cut.")
        attribute = getattr(self._backend, name)
        return attribute if name == "changes" or not callable(attribute) else partial(self._call, attribute)

    async def _call(self, call: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        ended = asyncio.get_running_loop().create_future()
        StoreLink.pending_calls.add(ended)
        try:
            return await call(*arguments, **options)
        finally:
            StoreLink.pending_calls.discard(ended)
            ended.set_result(None)


def linked_store(store: Store, clock: Clock) -> tuple[Store, StoreLink]:
    """The store as a process reaches it, and its link."""
    link = StoreLink(store.backend)
    return Store(cast("Backend", link), store.tables, secret=b"", clock=clock, retry=store.retry), link


async def wait_for_pending_calls() -> None:
    """Wait until no call to a store is pending for some turns of the event loop."""
    quiet_turns = 0
    while quiet_turns < _QUIET_TURNS:
        if StoreLink.pending_calls:
            await asyncio.wait(StoreLink.pending_calls)
            quiet_turns = 0
        else:
            await asyncio.sleep(0)
            quiet_turns += 1
