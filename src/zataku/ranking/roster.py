"""Who is ranked on a day, and with what: fixed once, before anything of the day is written.

A roster is a chain of parts. Each is put only where none lies, speaks of the UUIDs behind the part before it, and is
never changed. A run that finds a part goes on behind it, whoever wrote it and when; so however many runs there are,
killed, late or at once, all of them read one roster, and what they write is a function of it.

Begin some moments after midnight: a write that was on its way before then still counts for the day that ended, unless
its player's part was quicker.
"""

from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Sequence
from datetime import date

from msgspec import Struct

from zataku.ranking.design import NamedPlayer, Profile, RosterPart, Standing, by_name, days_before, profile, roster_part
from zataku.ranking.errors import RosterLacking
from zataku.ranking.limits import MOST_IN_PART, UserId
from zataku.ranking.writes import add_to_roster
from zataku.table import ConditionFailed, ResultUnknown, Store


class Unknown(Struct, frozen=True):
    """A player who was there on a day, but nobody knows any more with what."""

    user_id: UserId


def standing_on(player: Profile, day: date) -> Standing | Unknown | None:
    """What a player had at the end of a day; None for who was not there yet or held no name."""
    if player.first_day is not None and day < player.first_day:
        return None
    if player.current_day is not None and day >= player.current_day:
        name, level, power = player.name, player.current_level, player.current_power
        return None if player.name_lower is None else Standing(player.user_id, name, level, power)
    name, level, power = player.closing_name, player.closing_level, player.closing_power
    if player.closing_day is None or day < player.closing_day or level is None or power is None:
        return Unknown(player.user_id)
    return None if name is None else Standing(player.user_id, name, level, power)


async def named_players(store: Store) -> list[UserId]:
    """Everybody with a name, in the order of their UUIDs, by a walk through the index of names alone."""
    found = [it.user_id async for it in store.scan_index(by_name, NamedPlayer)]
    found.sort()
    # Whoever was renamed during the walk may have been met twice.
    return [user_id for at, user_id in enumerate(found) if at == 0 or user_id != found[at - 1]]


async def players_of(store: Store, day: date) -> list[UserId]:
    """Everybody who may have a standing on a day: who has a name now, and who was on the last published day before.

    The latter finds those who left or lost their name since the day ended, and those whom a walk passes by because they
    are renamed while it goes on. Only a player who is newer than that day can be missed so.
    """
    found = await named_players(store)
    before = await store.first(days_before(day))
    if before is None:
        return found
    without_name = [
        row.user_id
        async for part in parts_of(store, before.date)
        for row in part.rows
        if not _holds(found, row.user_id)
    ]
    return sorted([*found, *without_name]) if without_name else found


async def parts_of(store: Store, day: date) -> AsyncIterator[RosterPart]:
    """The whole roster of a day, a part at a time."""
    number = 0
    while True:
        part = await store.get(roster_part(day, number))
        if part is None:
            raise RosterLacking(f"The roster of {day} has no part {number}.")
        yield part
        if part.through is None:
            return
        number += 1


async def fix_roster(store: Store, day: date, players: Sequence[UserId] | None = None) -> None:
    """Fix who is ranked on a day, or finish what another run has begun. A whole roster is left as it is.

    `players`, in the order of their UUIDs, are those who may have a standing; without them they are looked for.
    """
    number, after = 0, ""
    while True:
        part = await store.get(roster_part(day, number))
        if part is None:
            if players is None:
                players = await players_of(store, day)
            part = await _added(store, await _next_part(store, day, number, players, after))
        if part.through is None:
            return
        number, after = number + 1, part.through


async def _next_part(store: Store, day: date, number: int, players: Sequence[UserId], after: str) -> RosterPart:
    begin = bisect_right(players, after)
    some = players[begin : begin + MOST_IN_PART]
    found = await store.get_many([profile(user_id) for user_id in some])
    judged = [standing_on(player, day) for player in found if player is not None]
    return RosterPart(
        date=day,
        number=number,
        rows=tuple(it for it in judged if isinstance(it, Standing)),
        missing=sum(isinstance(it, Unknown) for it in judged),
        through=some[-1] if begin + MOST_IN_PART < len(players) else None,
    )


async def _added(store: Store, part: RosterPart) -> RosterPart:
    try:
        await store.write(add_to_roster(part))
    except (ConditionFailed, ResultUnknown):
        # Another run was faster, or the reply was lost: what lies there now is the part.
        found = await store.get(roster_part(part.date, part.number))
        return await _added(store, part) if found is None else found
    return part


def _holds(players: Sequence[UserId], user_id: UserId) -> bool:
    at = bisect_left(players, user_id)
    return at < len(players) and players[at] == user_id
