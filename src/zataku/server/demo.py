"""The demo: each system fills an empty store with examples, while the server already answers."""

from collections.abc import Mapping

import structlog

from zataku.realtime.topics import Topics
from zataku.server.endpoints.home import CHANGED, TOPIC
from zataku.system import Plugin
from zataku.table import TableError

log = structlog.stdlib.get_logger()


async def fill_demo(topics: Topics, plugins: Mapping[str, Plugin]) -> None:
    """Fill the demo of each system, and tell open home pages that there is something new to show."""
    for name, plugin in plugins.items():
        if plugin.demo is None:
            continue
        try:
            await plugin.demo()
        except TableError as problem:
            log.warning("demo_failed", system=name, code=problem.code, problem=problem.message)
        else:
            topics.publish(TOPIC, CHANGED)
