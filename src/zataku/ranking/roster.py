"""The roster of a day: which players are ranked, and with which values. It is fixed before snapshots are written.

A roster is a chain of parts. Each part is put only if it does not exist, covers the UUIDs after those of the previous
part, and is never changed. A run that finds a part continues after it, whichever run wrote it. So all runs, also those
that were killed, are late or overlap, read one roster, and what they write is a function of it.

Start a short time after midnight: a write that was in flight at midnight still counts for the day that ended, unless
the part of its player is already stored.
"""

from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Sequence
from datetime import date

from msgspec import Struct

from zataku.ranking.design import NamedPlayer, Profile, RosterPart, Standing, by_name, days_before, profile, roster_part
from zataku.ranking.errors import RosterIncomplete
from zataku.ranking.limits import MAX_PART_ROWS, UserId
from zataku.ranking.writes import add_to_roster
from zataku.table import ConditionFailed, ResultUnknown, Store


class UnknownStanding(Struct, frozen=True):
    """A player of the day whose values on it are unknown."""

    user_id: UserId


def standing_on(player: Profile, day: date) -> Standing | UnknownStanding | None:
    """A player's values at the end of a day; None before the first day or without a name."""
    if player.first_day is not None and day < player.first_day:
        return None
    if player.current_day is not None and day >= player.current_day:
        name, level, power = player.name, player.current_level, player.current_power
        return None if player.name_lower is None else Standing(player.user_id, name, level, power)
    name, level, power = player.closing_name, player.closing_level, player.closing_power
    if player.closing_day is None or day < player.closing_day or level is None or power is None:
        return UnknownStanding(player.user_id)
    return None if name is None else Standing(player.user_id, name, level, power)


async def named_players(store: Store) -> list[UserId]:
    """The UUIDs of all named players, sorted, from a scan of the index of names."""
    user_ids = [player.user_id async for player in store.scan_index(by_name, NamedPlayer)]
    user_ids.sort()
    # A player who was renamed during the scan may occur twice.
    return [user_id for index, user_id in enumerate(user_ids) if index == 0 or user_id != user_ids[index - 1]]


async def candidate_players(store: Store, day: date) -> list[UserId]:
    """All players who may have a standing on a day: those with a name now, and those of the last published day.

    The latter include players who left or lost their name since the day ended, and those whom the scan misses because
    they are renamed during it. Only a player who entered after that day can be missed.
    """
    named = await named_players(store)
    previous = await store.first(days_before(day))
    if previous is None:
        return named
    without_name = [
        row.user_id
        async for part in read_roster(store, previous.date)
        for row in part.rows
        if not _contains(named, row.user_id)
    ]
    return sorted([*named, *without_name]) if without_name else named


async def read_roster(store: Store, day: date) -> AsyncIterator[RosterPart]:
    """The whole roster of a day, a part at a time."""
    number = 0
    while True:
        part = await store.get(roster_part(day, number))
        if part is None:
            raise RosterIncomplete(f"The roster of {day} has no part {number}. Run the daily job again.")
        yield part
        if part.through is None:
            return
        number += 1


async def create_roster(store: Store, day: date, players: Sequence[UserId] | None = None) -> None:
    """Create the roster of a day, or complete a roster that another run began. A complete roster stays unchanged.

    `players` are the sorted UUIDs of those who may have a standing; by default, `candidate_players`.
    """
    number, after = 0, ""
    while True:
        part = await store.get(roster_part(day, number))
        if part is None:
            if players is None:
                players = await candidate_players(store, day)
            part = await _put_part(store, await _next_part(store, day, number, players, after))
        if part.through is None:
            return
        number, after = number + 1, part.through


async def _next_part(store: Store, day: date, number: int, players: Sequence[UserId], after: str) -> RosterPart:
    begin = bisect_right(players, after)
    user_ids = players[begin : begin + MAX_PART_ROWS]
    profiles = await store.get_many([profile(user_id) for user_id in user_ids])
    standings = [standing_on(player, day) for player in profiles if player is not None]
    return RosterPart(
        date=day,
        number=number,
        rows=tuple(standing for standing in standings if isinstance(standing, Standing)),
        missing=sum(isinstance(standing, UnknownStanding) for standing in standings),
        through=user_ids[-1] if begin + MAX_PART_ROWS < len(players) else None,
    )


async def _put_part(store: Store, part: RosterPart) -> RosterPart:
    try:
        await store.write(add_to_roster(part))
    except (ConditionFailed, ResultUnknown):
        # Another run was faster, or the reply was lost: the stored part counts.
        stored = await store.get(roster_part(part.date, part.number))
        return await _put_part(store, part) if stored is None else stored
    return part


def _contains(players: Sequence[UserId], user_id: UserId) -> bool:
    index = bisect_left(players, user_id)
    return index < len(players) and players[index] == user_id
