"""How fast somebody may comment: a few at once and then one each second, or as slowly as the host wants it."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from zataku.live.errors import slow_mode, too_fast
from zataku.live.limits import SenderId, SlowMode

AT_ONCE = 5
"""Comments that somebody may write at once; each second gives one back."""


class CommentRate(msgspec.Struct, frozen=True):
    """When somebody last tried to comment, how many they may at once from then on, and when a comment was taken."""

    at: float
    left: float
    taken_at: float | None = None


def stepped(paces: Mapping[SenderId, CommentRate], who: SenderId, now: float) -> CommentRate:
    """The pace of somebody who tries to comment now. Refused, with the seconds to wait, when that is too soon."""
    last = paces.get(who)
    if last is None:
        return CommentRate(now, AT_ONCE - 1)
    left = min(AT_ONCE, last.left + max(0.0, now - last.at))
    if left < 1:
        raise too_fast(round(1 - left, 3))
    return replace(last, at=now, left=left - 1)


def spoken(pace: CommentRate, now: float, slow: SlowMode | None) -> CommentRate:
    """The same when the room takes the comment. Refused when the host wants them to wait longer."""
    if slow is not None and pace.taken_at is not None and now < pace.taken_at + slow:
        raise slow_mode(round(pace.taken_at + slow - now, 3))
    return replace(pace, taken_at=now)


def pruned(paces: Mapping[SenderId, CommentRate], now: float, slow: SlowMode | None) -> dict[SenderId, CommentRate]:
    """The paces that still hold anybody back. What lies ahead, by a clock that was set back, counts as now."""
    kept = max(AT_ONCE, slow or 0)
    return {who: _by_now(pace, now) for who, pace in paces.items() if now < pace.at + kept}


def _by_now(pace: CommentRate, now: float) -> CommentRate:
    if pace.at <= now:
        return pace
    return CommentRate(now, pace.left, None if pace.taken_at is None else min(pace.taken_at, now))
