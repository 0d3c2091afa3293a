"""Field types that many designs share: instants, days, identifiers.

A pattern made by `anchored` matches whole texts only. In Python a bare `$` also matches before a line break at the end;
the end of an anchored pattern does not, neither in Python nor in a JSON schema.
"""

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from msgspec import Meta

END = r"$(?!\n)"


def anchored(pattern: str) -> str:
    """The pattern for texts that match from their first character to their last."""
    return f"^{pattern}{END}" if "|" not in pattern else f"^(?:{pattern}){END}"


UUID_PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
"""The pattern of a UUID, for use inside other patterns."""

_DATE = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"

Instant: TypeAlias = Annotated[str, Meta(pattern=anchored(f"{_DATE}T{_TIME}Z"), title="moment as 2026-02-21T10:30:00Z")]
"""An instant such as 2025-02-19T10:00:00Z. All have the same length, so that they sort by time."""

InstantMs: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored(f"{_DATE}T{_TIME}\\.[0-9]{{3}}Z"),
        title="moment as 2026-02-21T10:30:00.000Z",
        examples=["2026-02-21T10:30:00.000Z"],
    ),
]
"""An instant such as 2025-02-19T10:00:00.000Z."""

Day: TypeAlias = Annotated[str, Meta(pattern=anchored(_DATE), title="day as 2026-02-21")]
"""A day such as 2026-02-21. The pattern ignores the calendar: it allows the 31st of February."""

Uuid: TypeAlias = Annotated[str, Meta(pattern=anchored(UUID_PATTERN), title="UUID")]
"""An identifier such as 456e7890-e89b-12d3-a456-426614174001, in small letters."""

Seconds: TypeAlias = Annotated[
    int, Meta(ge=0, le=253_402_300_799, title="seconds since 1970, UTC", examples=[1_771_669_800])
]
"""A Unix time, up to the end of the year 9999."""

Millis: TypeAlias = Annotated[
    int, Meta(ge=0, le=253_402_300_799_999, title="milliseconds since 1970, UTC", examples=[1_771_669_800_000])
]
"""A Unix time in milliseconds, up to the end of the year 9999: 15 digits."""

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def format_instant(seconds: float) -> Instant:
    """A Unix time as an instant, rounded down to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime(_FORMAT)


def parse_instant(instant: Instant) -> int:
    """The Unix time of an instant."""
    return int(datetime.strptime(instant, _FORMAT).replace(tzinfo=UTC).timestamp())


def add_seconds(instant: Instant, seconds: int) -> Instant:
    """The instant `seconds` later, or earlier when they are negative."""
    return format_instant(parse_instant(instant) + seconds)
