"""The rules of the drawing game: pure functions over its values."""
