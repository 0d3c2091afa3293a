"""Why a move of the drawing game is refused before anything is written."""


class RuleViolation(Exception):
    """The game as it was read does not allow this."""

    code = "refused"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class RoomTaken(RuleViolation):
    """Another server has taken over the room: whoever gets this stops."""

    code = "room_taken"


class NotNow(RuleViolation):
    """The game or its turn is not at a point where this can happen."""

    code = "not_now"


class NotYours(RuleViolation):
    """Only the host, the drawer or somebody at the table may do this."""

    code = "not_yours"


class NoSeat(RuleViolation):
    """No seat is free, or the player already has one."""

    code = "no_seat"
