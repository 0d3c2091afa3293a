"""What a file that somebody takes along is called."""

from typing import Literal
from urllib.parse import quote

from zataku.live.design import Room
from zataku.text import is_disallowed

_NOT_IN_NAMES = frozenset('/\\:*?"<>|%')
_LONGEST = 50
"""Characters of four bytes each, so that with day and ending it stays within what file systems take."""


def disposition(room: Room, ending: Literal["csv", "json"]) -> str:
    """The header that makes browsers save an answer: under the name of the room and its day, in every script."""
    day = room.created_at[:10]
    kept = "".join(" " if it in _NOT_IN_NAMES or is_disallowed(it) else it for it in room.name)
    name = " ".join(kept.split())[:_LONGEST].strip(" .") or "comments"
    return (
        f"attachment; filename=\"comments-{day}.{ending}\"; filename*=UTF-8''{quote(f'{name} {day}.{ending}', safe='')}"
    )
