"""What the rankings refuse."""


class RankingError(Exception):
    """A change that the rules of the rankings do not allow, said in a sentence."""


class OlderValues(RankingError):
    """Values are older than those that are there."""


class WrongHolder(RankingError):
    """A name is taken over from somebody who does not hold it."""


class NothingChanges(RankingError):
    """A change would leave everything as it is."""


class FutureValues(RankingError):
    """Values are of a time that has not come."""


class NotNew(RankingError):
    """A player who enters brings the past of one who is there already."""


class DayNotOver(RankingError):
    """A day is to be ranked before its end."""


class StandingsMissing(RankingError):
    """Of more players than allowed nobody knows any more what they had on the day."""


class RosterLacking(RankingError):
    """The roster of a day is not there, not whole, or not the same twice."""
