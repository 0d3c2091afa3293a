"""Daily player rankings: the rank of every player, and its change since the day before."""
