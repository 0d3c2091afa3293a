"""The rules of Othello: the board, legal moves, the end of a game."""
