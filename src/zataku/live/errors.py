"""Errors of live rooms: one code and one sentence per situation, in the words of the pages."""

from zataku.errors import (
    STORAGE_FULL,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    RequestError,
    StorageFull,
)
from zataku.live.limits import MAX_PINS

ROOM_CLOSED = "room_closed"
ALREADY_UPVOTED = "already_upvoted"


class InvalidBatch(ValueError):
    """Items that cannot be one write: none, too many, or comments with wrong numbers."""


# Rooms


def room_not_found() -> RequestError:
    """There is no room with the requested id."""
    return NotFound("No such room. Check the link.", code="no_such_room")


def malformed_code() -> RequestError:
    """The requested code is not the number of any room, at any time."""
    return InvalidRequest("A room number has six digits. Check the number on the slide.", code="bad_code")


def code_not_found() -> RequestError:
    """No room has the requested code."""
    return NotFound("No room has this number. Check the digits.", code="no_such_code")


def room_closed() -> RequestError:
    """The room is closed and accepts no command."""
    return Conflict("This room has ended.", code=ROOM_CLOSED)


def room_paused() -> RequestError:
    """The host has paused the comments."""
    return Conflict("Comments are paused for a moment. Your text is safe.", code="paused")


def room_busy() -> RequestError:
    """A write conflicted with other writers."""
    return Conflict("It's busy right now. Try again in a moment.", code="busy")


def storage_full() -> RequestError:
    """The disk is full, and nothing was stored."""
    return StorageFull(STORAGE_FULL)


def not_the_host() -> RequestError:
    """The command is reserved for the host."""
    return Forbidden("Only the host can do that.", code="not_the_host")


# Senders


def sender_blocked() -> RequestError:
    """The host has blocked the sender."""
    return Forbidden("The host has blocked you from this room.", code="blocked")


def word_blocked() -> RequestError:
    """The comment has a blocked word. The error does not name it, so that the list cannot be found by trying."""
    return Forbidden(
        "Your comment has a word that's blocked in this room. Try saying it another way.", code="blocked_word"
    )


def too_fast(retry_after: float) -> RequestError:
    """The sender has used up their rate."""
    return RateLimited("That was a bit fast. Try again in a moment.", retry_after=_milliseconds(retry_after))


def is_too_fast(error: RequestError) -> bool:
    """True for the error of `too_fast`; slow mode has a code of its own."""
    return error.code == RateLimited.default_code


def slow_mode(retry_after: float) -> RequestError:
    """The sender has to wait between two comments."""
    wait = _milliseconds(retry_after)
    return RateLimited("Slow mode is on. You can send again in a moment.", retry_after=wait, code="slow_mode")


def _milliseconds(seconds: float) -> float:
    """The seconds, rounded to milliseconds. A wait is never zero, which would mean that the comment was accepted."""
    return max(0.001, round(seconds, 3))


def name_reserved() -> RequestError:
    """The nickname would pass for the server or for the host of a room."""
    return InvalidRequest("This name is reserved. Choose another one.", code="name_reserved")


def name_of_host() -> RequestError:
    """The nickname is the host's, or looks like it."""
    return Conflict("This is the host's name in this room. Choose another nickname.", code="name_of_host")


# Comments


def comment_not_found() -> RequestError:
    """There is no such comment, or it is hidden from the sender."""
    return NotFound("This comment isn't there any more.", code="no_such_comment")


def id_taken() -> RequestError:
    """The id of the comment belongs to a comment of another sender."""
    return Conflict("Another comment has this id. Send it again with a new one.", code="id_taken")


def comment_deleted() -> RequestError:
    """A comment was sent again that has been deleted since."""
    return Conflict("This comment was already deleted.", code="deleted")


def not_your_comment() -> RequestError:
    """Another sender wrote the comment."""
    return Forbidden("You can take back only your own comments.", code="not_yours")


def too_late_to_retract() -> RequestError:
    """The comment is older than `RETRACTION_SECONDS`."""
    return Conflict("You can take a comment back for one minute only.", code="too_late")


def own_upvote() -> RequestError:
    """The sender would upvote their own comment."""
    return Conflict("You can't upvote your own comment.", code="own_upvote")


def not_upvoted() -> RequestError:
    """The sender takes back an upvote that they have not given."""
    return Conflict("You haven't upvoted this comment.", code="not_upvoted")


def already_upvoted() -> RequestError:
    """The sender has upvoted the comment before."""
    return Conflict("You have already upvoted this comment.", code=ALREADY_UPVOTED)


# Moderation


def too_many_pins() -> RequestError:
    """The room has as many pinned comments as it can show."""
    return Conflict(f"Up to {MAX_PINS} comments can be pinned. Unpin one first.", code="too_many_pins", most=MAX_PINS)


def too_many_blocks(most: int) -> RequestError:
    """The room has as many blocks as are checked for each comment."""
    return Conflict(f"Up to {most} can be blocked. Unblock one first.", code="too_many_blocks", most=most)


def own_comment() -> RequestError:
    """The host would block themselves."""
    return Conflict("This one is yours. You can't block yourself.", code="own_comment")
