"""How fast somebody may comment: a few at once and then one each second, or as slowly as the host wants it."""

from collections.abc import Mapping

import msgspec

from zataku.live.limits import SenderId, SlowMode
from zataku.live.refusing import slow_mode, too_fast

AT_ONCE = 5
"""Comments that somebody may write at once; each second gives one back."""


class Pace(msgspec.Struct, frozen=True):
    """When somebody last commented, and how many they may write at once from then on."""

    at: float
    left: float


def stepped(paces: Mapping[SenderId, Pace], who: SenderId, now: float, slow: SlowMode | None) -> Pace:
    """The pace of somebody who comments now. Refused, with the seconds to wait, when that is too soon."""
    last = paces.get(who)
    if last is None:
        return Pace(now, AT_ONCE - 1)
    if slow is not None and now < last.at + slow:
        raise slow_mode(round(last.at + slow - now, 3))
    left = min(AT_ONCE, last.left + max(0.0, now - last.at))
    if left < 1:
        raise too_fast(round(1 - left, 3))
    return Pace(now, left - 1)


def pruned(paces: Mapping[SenderId, Pace], now: float, slow: SlowMode | None) -> dict[SenderId, Pace]:
    """The paces that still hold anybody back."""
    kept = max(AT_ONCE, slow or 0)
    return {who: pace for who, pace in paces.items() if now < pace.at + kept}
