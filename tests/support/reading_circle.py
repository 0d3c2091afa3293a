"""The design of examples/reading_circle.py, loaded from its file as a server loads it, and its members."""

from pathlib import Path
from typing import Any

from zataku.table.design_catalogue import load_file

FILE = Path(__file__).parents[2] / "examples" / "reading_circle.py"
example: Any = load_file(FILE)
circle = example.circle


def member(number: int, notes: int = 0) -> Any:
    """A member named after the number."""
    return example.Member(name=f"m{number}", note_count=notes)


def member_key(number: int) -> Any:
    """The key of the member named after the number."""
    return example.Member.key(name=f"m{number}")
