"""Waiting by the clock for something that may come sooner."""

import asyncio
from collections.abc import Collection
from typing import Any

from zataku.clock import Clock


async def wait_until_set(event: asyncio.Event, clock: Clock, seconds: float) -> None:
    """Wait until somebody sets the event, but no longer than so many seconds."""
    setting = asyncio.ensure_future(event.wait())
    try:
        await wait_until_done([setting], clock, seconds)
    finally:
        setting.cancel()


async def wait_until_done(tasks: Collection["asyncio.Future[Any]"], clock: Clock, seconds: float) -> None:
    """Wait until all tasks are done, but no longer than so many seconds. They go on after that."""
    if not tasks:
        return
    timer = asyncio.ensure_future(clock.sleep(seconds))
    every = asyncio.ensure_future(asyncio.wait(tasks))
    try:
        await asyncio.wait({timer, every}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
        every.cancel()
