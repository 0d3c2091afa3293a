"""What the rankings refuse."""


class RankingError(Exception):
    """A change that the rules of the rankings do not allow, said in a sentence."""


class OlderValues(RankingError):
    """Values are older than those that are there."""


class WrongHolder(RankingError):
    """A name is taken over from somebody who does not hold it."""


class NothingChanges(RankingError):
    """A change would leave everything as it is."""
