"""Topics: names that events are told under, without any state of their own."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from zataku.platform.identity import Identity

Allows: TypeAlias = Callable[[str, Identity], Awaitable[bool]]
"""Says whether somebody may hear the topic of that id."""


class Topics:
    """Every topic without a room, across all processes."""

    def declare(self, kind: str, allows: Allows) -> None:
        """Let people hear the topics `kind/ID`, and the one called `kind` alone, whose id is empty."""
        raise NotImplementedError

    def tell(self, topic: str, event: bytes) -> None:
        """Tell everybody who hears the topic, in any process, something as JSON. It is not kept; it does not wait."""
        raise NotImplementedError
