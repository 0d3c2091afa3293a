"""The time of the running event loop, which a test can advance: timers that are due by it fire at once."""

import asyncio


class LoopTime:
    """The time of the running event loop. Only for loops that belong to one test, since it is never set back."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._ahead = 0.0
        own_time = loop.time
        loop.time = lambda: own_time() + self._ahead  # type: ignore[method-assign]

    async def advance(self, seconds: float) -> None:
        """Fire the timers of the next seconds."""
        self._ahead += seconds
        # The loop calls due timers in the turn after the one that collects them.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
