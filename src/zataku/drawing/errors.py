"""Errors of the drawing game's rules. They are raised before anything is written."""


class RuleViolation(Exception):
    """The loaded game does not allow the write."""

    code = "refused"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class RoomTaken(RuleViolation):
    """Another process owns the room; the caller stops writing."""

    code = "room_taken"


class WrongState(RuleViolation):
    """The game or its turn is in another state than the write needs."""

    code = "not_now"


class NotAllowed(RuleViolation):
    """The caller is not the host, the drawer or a seated player."""

    code = "not_yours"


class SeatUnavailable(RuleViolation):
    """No seat is free, or the player has one already."""

    code = "no_seat"
