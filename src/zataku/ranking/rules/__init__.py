"""How a day is ranked, as pure functions."""
