"""Moments as the table holds them, such as 2025-12-31T11:11:31Z, turned into numbers and back."""

from datetime import UTC, datetime

from zataku.table.forms import Instant

_FORM = "%Y-%m-%dT%H:%M:%SZ"


def instant(seconds: float) -> Instant:
    """The moment so many seconds after 1970 began."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime(_FORM)


def seconds_of(moment: Instant) -> int:
    """Seconds since 1970."""
    return int(datetime.strptime(moment, _FORM).replace(tzinfo=UTC).timestamp())


def latest(*moments: Instant) -> Instant:
    """The last of these moments: a clock that is slow turns no time back."""
    return max(moments)


def later(moment: Instant, seconds: int) -> Instant:
    """The moment so many seconds later; earlier when they are negative."""
    return instant(seconds_of(moment) + seconds)
