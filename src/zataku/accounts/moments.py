"""The time in milliseconds, as the platform's table counts it."""

from zataku.clock import Clock
from zataku.platform.limits import SECOND
from zataku.table.forms import Millis


def millis(clock: Clock) -> Millis:
    """Now."""
    return int(clock.now() * SECOND)
