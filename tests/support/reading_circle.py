"""The example's design, loaded as a host would load it: from its file."""

from pathlib import Path
from typing import Any

from zataku.table.catalogue import load_file

FILE = Path(__file__).parents[2] / "examples" / "reading_circle.py"
example: Any = load_file(FILE)
circle = example.circle


def member(number: int, notes: int = 0) -> Any:
    """Someone who reads along."""
    return example.Member(name=f"m{number}", note_count=notes)


def member_key(number: int) -> Any:
    """The key of that person."""
    return example.Member.key(name=f"m{number}")
