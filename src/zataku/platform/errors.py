"""Why a write is not even tried: what was loaded does not allow it."""

from typing import ClassVar


class PlatformError(Exception):
    """The root of the errors of this package."""

    code: ClassVar[str] = "platform_error"


class NotAGuest(PlatformError):
    """Only a guest can become a user."""

    code = "not_a_guest"


class NotAUser(PlatformError):
    """A guest has no name, password or keys. Sign up first."""

    code = "not_a_user"


class AccountDeleted(PlatformError):
    """The account is being deleted and changes no more."""

    code = "account_deleted"


class NotDeleted(PlatformError):
    """An account is marked as deleted before it is removed."""

    code = "not_deleted"


class NotClaimed(PlatformError):
    """Nobody runs this job. Claim it first."""

    code = "not_claimed"


class LeaseHeld(PlatformError):
    """Somebody else holds the lease. Come back when it has lapsed."""

    code = "lease_held"
