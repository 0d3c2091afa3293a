"""The drawing party game: one draws, the others guess, and the last kana starts the next word."""
