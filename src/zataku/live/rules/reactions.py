"""Reactions: counted in memory, published together, and stored as one count per minute."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from zataku.live.limits import Reaction, RoomId
from zataku.live.moderation.design import Reactions
from zataku.table import InstantMs

KINDS: tuple[Reaction, ...] = ("clap", "aha", "lol")


class ReactionCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The reactions of a room: all earlier minutes, the current minute, and what is not published or stored yet."""

    earlier: Mapping[str, int] = {}
    minute: Reactions | None = None
    unpublished: Mapping[str, int] = {}
    unstored: tuple[Reactions, ...] = ()

    def published_totals(self) -> dict[str, int]:
        """The totals that readers know; what is unpublished follows with the next event."""
        totals = _totals(self.earlier, self.minute)
        return {kind: count - self.unpublished.get(kind, 0) for kind, count in totals.items()}


def load_counts(stored: Sequence[Reactions]) -> ReactionCounts:
    """The counts of a new owner, from the stored minutes."""
    if not stored:
        return ReactionCounts()
    *earlier, last = sorted(stored, key=lambda it: it.minute)
    totals: dict[str, int] = {}
    for minute in earlier:
        totals = _totals(totals, minute)
    return ReactionCounts(earlier=totals, minute=last)


def count_reaction(counts: ReactionCounts, room_id: RoomId, kind: Reaction, minute: InstantMs) -> ReactionCounts:
    """The counts with one more reaction in a minute; one that comes late counts in the current minute."""
    counts = _enter_minute(counts, room_id, minute)
    assert counts.minute is not None
    current = replace(counts.minute, **{kind: _count(counts.minute, kind) + 1})
    others = tuple(it for it in counts.unstored if it.minute != current.minute)
    unpublished = {**counts.unpublished, kind: counts.unpublished.get(kind, 0) + 1}
    return replace(counts, minute=current, unpublished=unpublished, unstored=(*others, current))


def _enter_minute(counts: ReactionCounts, room_id: RoomId, minute: InstantMs) -> ReactionCounts:
    if counts.minute is not None and counts.minute.minute >= minute:
        return counts
    earlier = _totals(counts.earlier, counts.minute)
    return replace(counts, earlier=earlier, minute=Reactions(room_id=room_id, minute=minute))


def _totals(earlier: Mapping[str, int], minute: Reactions | None) -> dict[str, int]:
    return {kind: earlier.get(kind, 0) + (0 if minute is None else _count(minute, kind)) for kind in KINDS}


def _count(minute: Reactions, kind: Reaction) -> int:
    match kind:
        case "clap":
            return minute.clap
        case "aha":
            return minute.aha
        case "lol":
            return minute.lol
