"""What the server says no to: one kind of error for HTTP and sockets alike, which changes nothing.

`code` is for programs, `message` tells a person what to do, `details` holds what is known about it.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """What went wrong: a code for programs, a sentence for people, and what is known about it."""

    code: str
    message: str
    details: dict[str, object] = {}


class Refused(Exception):
    """A request that is not carried out. Nothing was changed."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"

    def __init__(self, message: str, *, code: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.named = code or self.code
        self.details: Mapping[str, object] = details

    @property
    def problem(self) -> Problem:
        """The refusal as it is sent."""
        return Problem(self.named, self.message, dict(self.details))


class Invalid(Refused):
    """Some values are not as they must be."""

    status, code = 400, "invalid"


class NotSignedIn(Refused):
    """Only for somebody who is known."""

    status, code = 401, "unauthorized"


class Forbidden(Refused):
    """Not for this caller."""

    status, code = 403, "forbidden"


class NotFound(Refused):
    """There is nothing of that name."""

    status, code = 404, "not_found"


class Conflict(Refused):
    """It is not possible as things stand now."""

    status, code = 409, "conflict"


class TooLarge(Refused):
    """More was sent than is taken."""

    status, code = 413, "too_large"


class TooMany(Refused):
    """Too often. `retry_after` says after how many seconds it is possible again."""

    status, code = 429, "too_many_requests"

    def __init__(self, message: str, *, retry_after: float, code: str | None = None, **details: object) -> None:
        super().__init__(message, code=code, retry_after=retry_after, **details)
        self.retry_after = retry_after


class Unavailable(Refused):
    """Not now; it may be possible in a moment."""

    status, code = 503, "unavailable"


class Unsettled(Refused):
    """Nobody knows whether it was kept. Look before asking again."""

    status, code = 503, "unsettled"
