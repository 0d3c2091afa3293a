"""Errors of the rankings' rules."""


class RankingError(Exception):
    """A change that the rules of the rankings do not allow."""


class OlderValues(RankingError):
    """Imported values are not newer than the stored ones."""


class WrongHolder(RankingError):
    """A name is to be taken over from a player who does not hold it."""


class NothingChanges(RankingError):
    """The stored state already is as requested."""


class FutureValues(RankingError):
    """Imported values have a time in the future."""


class NotANewPlayer(RankingError):
    """A new player has a closing state, which only an existing player can have."""


class DayNotOver(RankingError):
    """A day is to be ranked before its end."""


class StandingsMissing(RankingError):
    """The standings of more players than allowed are unknown for the day."""


class RosterIncomplete(RankingError):
    """The roster of a day is missing, incomplete, or differs between two reads."""
