"""Errors of the rankings' rules."""


class RankingError(Exception):
    """A change that the rules of the rankings do not allow, said in a sentence."""


class OlderValues(RankingError):
    """Values are older than those that are there."""


class WrongHolder(RankingError):
    """A name is taken over from somebody who does not hold it."""


class NothingChanges(RankingError):
    """The change would change nothing."""


class FutureValues(RankingError):
    """Values are of a time in the future."""


class NotANewPlayer(RankingError):
    """A new player has the past of one who exists already."""


class DayNotOver(RankingError):
    """A day is to be ranked before its end."""


class StandingsMissing(RankingError):
    """The standings of more players than allowed are unknown for the day."""


class RosterIncomplete(RankingError):
    """The roster of a day is not there, not whole, or not the same twice."""
