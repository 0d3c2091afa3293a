"""Errors that HTTP routes and sockets report in the same form. After all but `OutcomeUnknown`, nothing has changed.

`code` is for programs, `message` says what happened and what to do, for users, `details` holds further values.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

OUTCOME_UNKNOWN = "We can't tell whether this was stored. Check before you send it again."
"""The sentence for every write whose reply was lost, on HTTP, sockets and pages alike."""

INTERNAL_FAILURE = "Something went wrong. Please try again in a moment."
"""The sentence for every fault of the server, on HTTP, sockets and pages alike. The cause is in the log only."""

CHANGED_SINCE = "This has changed in the meantime. Look again, then try once more."
"""The sentence for every write that is refused because of a concurrent one."""

STORAGE_FULL = "The server has run out of space. Tell its admin."
"""The sentence for every write that a full disk refuses, on HTTP, sockets and pages alike."""


class Problem(msgspec.Struct, frozen=True):
    """An error as it is sent: a code for programs, a sentence for users, and further values."""

    code: str
    message: str
    details: dict[str, object] = {}


class RequestError(Exception):
    """A request that failed, with a code and a sentence for its sender."""

    status: ClassVar[int] = 400
    default_code: ClassVar[str] = "bad_request"

    def __init__(self, message: str, *, code: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details: Mapping[str, object] = details

    @property
    def problem(self) -> Problem:
        """The error as it is sent."""
        return Problem(self.code, self.message, dict(self.details))


class InvalidRequest(RequestError):
    """Some values of the request are invalid."""

    status, default_code = 400, "invalid"


class Unauthorized(RequestError):
    """The request needs a signed-in caller."""

    status, default_code = 401, "unauthorized"


class Forbidden(RequestError):
    """The caller is not allowed to do this."""

    status, default_code = 403, "forbidden"


class NotFound(RequestError):
    """The requested resource does not exist."""

    status, default_code = 404, "not_found"


class Conflict(RequestError):
    """The request conflicts with the current state."""

    status, default_code = 409, "conflict"


class PayloadTooLarge(RequestError):
    """The request is larger than the limit."""

    status, default_code = 413, "too_large"


class RateLimited(RequestError):
    """The caller sent too many requests. `retry_after` is the number of seconds until the next one is accepted."""

    status, default_code = 429, "too_many_requests"

    def __init__(self, message: str, *, retry_after: float, code: str | None = None, **details: object) -> None:
        super().__init__(message, code=code, retry_after=retry_after, **details)
        self.retry_after = retry_after


class Unavailable(RequestError):
    """The request cannot be served at the moment; a later attempt may succeed."""

    status, default_code = 503, "unavailable"


class StorageFull(RequestError):
    """The disk of the server is full, so nothing was stored."""

    status, default_code = 507, "store_full"


class OutcomeUnknown(RequestError):
    """The reply to a write was lost, so the write may or may not have been stored."""

    status, default_code = 503, "unsettled"
