"""What a live room says no with."""

from zataku.errors import Conflict, Forbidden, NotFound, RateLimited, RequestError
from zataku.live.limits import MAX_PINS

ROOM_CLOSED = "room_closed"
ALREADY_UPVOTED = "already_upvoted"


def no_such_room() -> RequestError:
    """To whoever looks for a room that is not there."""
    return NotFound("There is no such room. Check the link.", code="no_such_room")


def closed() -> RequestError:
    """To whoever wants something of a closed room."""
    return Conflict("The room is closed. What was said stays readable.", code=ROOM_CLOSED)


def paused() -> RequestError:
    """To whoever comments while the host wants quiet."""
    return Conflict("The room takes no comments for a moment. Your text is safe.", code="paused")


def busy() -> RequestError:
    """When other writers are in the way."""
    return Conflict("The room is busy. Try again in a moment.", code="busy")


def not_the_host() -> RequestError:
    """To whoever does what only the host may."""
    return Forbidden("Only its host does that in a room.", code="not_the_host")


def blocked() -> RequestError:
    """To somebody whom the host keeps out."""
    return Forbidden("The host of this room takes nothing from you any more.", code="blocked")


def blocked_word() -> RequestError:
    """To whoever says a word that the host keeps out. Which one is not told, so that it is not tried out."""
    return Forbidden("The host of this room keeps a word out that is in this. Say it another way.", code="blocked_word")


def too_fast(wait: float) -> RequestError:
    """To somebody who says more than anybody can read."""
    return RateLimited("That is a lot at once. Wait a moment.", retry_after=wait)


def is_flood(problem: RequestError) -> bool:
    """True for what somebody is told who says too much at once."""
    return problem.code == RateLimited.default_code


def slow_mode(wait: float) -> RequestError:
    """To somebody who has to wait between two comments."""
    return RateLimited("The host has slowed the room down. Wait a moment.", retry_after=wait, code="slow_mode")


def no_such_comment() -> RequestError:
    """To whoever wants something with a comment that is not there."""
    return NotFound("That comment is not there any more.", code="no_such_comment")


def taken_id() -> RequestError:
    """To whoever sends a comment under the id of another."""
    return Conflict("Another comment has this id. Send it under one of its own.", code="id_taken")


def deleted() -> RequestError:
    """To whoever sends a comment again that was deleted meanwhile."""
    return Conflict("The comment was deleted meanwhile.", code="deleted")


def already_upvoted() -> RequestError:
    """To whoever wants the same question answered twice."""
    return Conflict("You have upvoted this already.", code=ALREADY_UPVOTED)


def too_many_pins() -> RequestError:
    """To a host who pins more than anybody can keep in view."""
    return Conflict(f"{MAX_PINS} comments can be pinned. Unpin one first.", code="too_many_pins", most=MAX_PINS)


def too_many_blocks(most: int) -> RequestError:
    """To a host who keeps out more than is looked through at every comment."""
    return Conflict(f"{most} can be kept out. Let one in first.", code="too_many_blocks", most=most)


def own_comment() -> RequestError:
    """To a host who would keep themselves out."""
    return Conflict("This one is yours. You cannot keep yourself out.", code="own_comment")


class UnfitTick(ValueError):
    """What came in a tick cannot be written together: there is nothing or too much, or its numbers are wrong."""
