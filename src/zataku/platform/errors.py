"""Errors of writes that the loaded items do not allow."""

from typing import ClassVar


class PlatformError(Exception):
    """Base of the errors of this package."""

    code: ClassVar[str] = "platform_error"


class NotAGuest(PlatformError):
    """The account is a user's; only a guest can become a user."""

    code = "not_a_guest"


class NotAUser(PlatformError):
    """The account is a guest's, which has no name, password or keys."""

    code = "not_a_user"


class AccountDeleted(PlatformError):
    """The account is being deleted and cannot be changed."""

    code = "account_deleted"


class NotDeleted(PlatformError):
    """The account is not marked as deleted, so that it cannot be removed."""

    code = "not_deleted"


class NotClaimed(PlatformError):
    """The job has no owner. Claim it first."""

    code = "not_claimed"


class LeaseHeld(PlatformError):
    """Another process holds the lease."""

    code = "lease_held"


class LeaseNotHeld(PlatformError):
    """The lease has no owner. Take it first."""

    code = "lease_not_held"
