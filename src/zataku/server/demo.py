"""Filling an empty store with something to look at, while people may already be looking."""

from collections.abc import Sequence

import structlog

from zataku.realtime.topics import Topics
from zataku.server.endpoints.home import CHANGED, TOPIC
from zataku.system import System
from zataku.table import TableError

log = structlog.stdlib.get_logger()


async def demonstrate(topics: Topics, systems: Sequence[System]) -> None:
    """Let each system show something, and tell whoever opened the home page before it was there."""
    for system in systems:
        if system.demo is None:
            continue
        try:
            await system.demo()
        except TableError as problem:
            log.warning("demo_not_filled", system=system.name, code=problem.code, problem=problem.message)
        else:
            topics.tell(TOPIC, CHANGED)
