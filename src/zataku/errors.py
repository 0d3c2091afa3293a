"""What the server says no to: one kind of error for HTTP and sockets alike, which changes nothing.

`code` is for programs, `message` tells a person what to do, `details` holds what is known about it.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

OUTCOME_UNKNOWN = "We can't tell whether this was stored. Check before you send it again."
"""The sentence for every write whose reply was lost, on HTTP, sockets and pages alike."""


class Problem(msgspec.Struct, frozen=True):
    """What went wrong: a code for programs, a sentence for people, and what is known about it."""

    code: str
    message: str
    details: dict[str, object] = {}


class RequestError(Exception):
    """A request that is not carried out. Nothing was changed."""

    status: ClassVar[int] = 400
    default_code: ClassVar[str] = "bad_request"

    def __init__(self, message: str, *, code: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details: Mapping[str, object] = details

    @property
    def problem(self) -> Problem:
        """The refusal as it is sent."""
        return Problem(self.code, self.message, dict(self.details))


class InvalidRequest(RequestError):
    """Some values are not as they must be."""

    status, default_code = 400, "invalid"


class Unauthorized(RequestError):
    """Only for somebody who is known."""

    status, default_code = 401, "unauthorized"


class Forbidden(RequestError):
    """Not for this caller."""

    status, default_code = 403, "forbidden"


class NotFound(RequestError):
    """There is nothing of that name."""

    status, default_code = 404, "not_found"


class Conflict(RequestError):
    """It is not possible as things stand now."""

    status, default_code = 409, "conflict"


class PayloadTooLarge(RequestError):
    """More was sent than is taken."""

    status, default_code = 413, "too_large"


class RateLimited(RequestError):
    """Too often. `retry_after` says after how many seconds it is possible again."""

    status, default_code = 429, "too_many_requests"

    def __init__(self, message: str, *, retry_after: float, code: str | None = None, **details: object) -> None:
        super().__init__(message, code=code, retry_after=retry_after, **details)
        self.retry_after = retry_after


class Unavailable(RequestError):
    """Not now; it may be possible in a moment."""

    status, default_code = 503, "unavailable"


class OutcomeUnknown(RequestError):
    """Nobody knows whether it was kept. Look before asking again."""

    status, default_code = 503, "unsettled"
