"""The rules of a day's ranking as pure functions."""
