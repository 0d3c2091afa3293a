"""Rate limits of senders: a burst of comments and then one a second, or slower in slow mode; reactions per second."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from zataku.clock import instant_seconds
from zataku.live.design import Comment
from zataku.live.errors import slow_mode, too_fast
from zataku.live.limits import SenderId, SlowMode

MAX_COMMENT_BURST = 5
"""Comments that a sender may send at once; each second gives one back."""
REACTIONS_PER_SECOND = 5
"""Reactions of one sender that count in a second: a wave of twenty in three seconds takes two people."""


class CommentRate(msgspec.Struct, frozen=True):
    """The token bucket of one sender at a time, and when the room last accepted a comment of theirs."""

    at: float
    tokens: float
    accepted_at: float | None = None


def load_rates(recent: Iterable[Comment]) -> dict[SenderId, CommentRate]:
    """The rates of a new owner, from the latest comments in order: slow mode continues for their senders."""
    accepted_at = {it.sender_id: instant_seconds(it.created_at) for it in recent if it.sender_id is not None}
    return {sender: CommentRate(at, MAX_COMMENT_BURST, at) for sender, at in accepted_at.items()}


def spend_token(rates: Mapping[SenderId, CommentRate], sender: SenderId, now: float) -> CommentRate:
    """The sender's rate after one more attempt to comment. Raises `too_fast` when there is no token."""
    last = rates.get(sender)
    if last is None:
        return CommentRate(now, MAX_COMMENT_BURST - 1)
    tokens = min(MAX_COMMENT_BURST, last.tokens + max(0.0, now - last.at))
    if tokens < 1:
        raise too_fast(1 - tokens)
    return replace(last, at=now, tokens=tokens - 1)


def accept_comment(rate: CommentRate, now: float, slow_mode_seconds: SlowMode | None) -> CommentRate:
    """The sender's rate after the room accepted a comment. Raises `slow_mode` when it is too early for that."""
    if slow_mode_seconds is not None and rate.accepted_at is not None and now < rate.accepted_at + slow_mode_seconds:
        raise slow_mode(rate.accepted_at + slow_mode_seconds - now)
    return replace(rate, accepted_at=now)


def prune_rates(
    rates: Mapping[SenderId, CommentRate], now: float, slow_mode_seconds: SlowMode | None
) -> dict[SenderId, CommentRate]:
    """The rates that still limit their senders. Times in the future, of a clock that was set back, count as now."""
    kept_seconds = max(MAX_COMMENT_BURST, slow_mode_seconds or 0)
    return {sender: _not_after(rate, now) for sender, rate in rates.items() if now < rate.at + kept_seconds}


def _not_after(rate: CommentRate, now: float) -> CommentRate:
    if rate.at <= now:
        return rate
    return CommentRate(now, rate.tokens, None if rate.accepted_at is None else min(rate.accepted_at, now))


class ReactionLimit:
    """The reactions of each sender in the current second."""

    def __init__(self) -> None:
        self._second = 0
        self._counts: dict[str, int] = {}

    def accepts(self, sender: str, now: float) -> bool:
        """Count one more reaction; False when the sender has reached the limit of this second."""
        if int(now) != self._second:
            self._second, self._counts = int(now), {}
        count = self._counts[sender] = self._counts.get(sender, 0) + 1
        return count <= REACTIONS_PER_SECOND
