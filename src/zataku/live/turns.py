"""Which commands of a batch are carried out together, and who has to wait for their turn."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from zataku.live import messages as said
from zataku.live.errors import too_fast
from zataku.live.rules.room_state import Replies
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import Command
from zataku.realtime.sockets.limits import TokenBucket

Commands: TypeAlias = Sequence[said.Command | None]
Wish: TypeAlias = said.Upvote | said.RetractComment
"""What somebody wants of one comment."""

A_SECOND, AT_ONCE = 2, 10
"""Upvotes and comments taken back by one person: each is a write of its own while everybody else waits."""
_MOST_REMEMBERED = 10_000


def barrier(commands: Commands) -> int:
    """The place of the first command that nothing may pass; the end when there is none."""
    passing = (said.PostComment, said.Upvote, said.RetractComment)
    found = (at for at, it in enumerate(commands) if it is not None and not isinstance(it, passing))
    return next(found, len(commands))


def comments(asked: Sequence[Command], commands: Commands) -> list[tuple[int, Command, said.PostComment]]:
    """The comments that somebody wants to make, with their places."""
    return [(at, asked[at], it) for at, it in enumerate(commands) if isinstance(it, said.PostComment)]


class Wishes:
    """Lets everybody have a few wishes at a time."""

    def __init__(self) -> None:
        self._allowed: dict[AccountId, TokenBucket] = {}

    def first(
        self, asked: Sequence[Command], commands: Commands, replies: Replies, now: float
    ) -> tuple[int, Wish] | None:
        """The next wish to be carried out. Whoever has too many is refused, which costs nobody a turn."""
        for at, wish in _wishes(commands):
            wait = self._allowance(asked[at].sender.account_id, now).take(now)
            if not wait:
                return at, wish
            replies[at] = too_fast(round(wait, 3))
        return None

    def _allowance(self, who: AccountId, now: float) -> TokenBucket:
        if who not in self._allowed and len(self._allowed) >= _MOST_REMEMBERED:
            self._allowed.clear()
        return self._allowed.setdefault(who, TokenBucket(A_SECOND, AT_ONCE, now))


def _wishes(commands: Commands) -> Iterator[tuple[int, Wish]]:
    return ((at, it) for at, it in enumerate(commands) if isinstance(it, said.Upvote | said.RetractComment))
