"""Othello by vote: everyone together against the AI, one voted move at a time."""
