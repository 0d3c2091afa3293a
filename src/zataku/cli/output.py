"""Output for a terminal and for a pipe, and the confirmation of what cannot be undone.

A terminal gets colours and rules; a pipe gets plain columns as wide as they need to be, so that nothing is cut off.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime

from zataku.text import is_disallowed

_BYTE_UNITS = ("B", "KB", "MB", "GB", "TB")


def is_terminal() -> bool:
    """True when standard output is a terminal."""
    return sys.stdout.isatty()


def print_columns(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = ()) -> None:
    """Print a table; the columns named in `right` are aligned to the right."""
    if not is_terminal():
        print("\n".join(_plain_lines(headings, rows, right)))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for heading in headings:
        is_right = heading in right
        # Names that do not fit are folded: a truncated one could not be typed again.
        table.add_column(heading, justify="right" if is_right else "left", no_wrap=is_right, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def print_facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair per line."""
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        print(f"{name:<{width}}  {value}")


def print_markdown(text: str) -> None:
    """Print a document: rendered on a terminal, as it is otherwise."""
    if not is_terminal():
        print(text, end="" if text.endswith("\n") else "\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))


def print_note(line: str) -> None:
    """Print a line for the operator, on standard error, that is not part of the result."""
    print(line, file=sys.stderr, flush=True)


def confirm(consequence: str, name: str, error: Callable[[str], Exception]) -> None:
    """Ask the operator to type a name, so that nothing is lost by accident. Raises the error for any other answer."""
    if not sys.stdin.isatty():
        raise error(f"{consequence} There is no terminal to confirm it: add --yes.")
    print_note(consequence)
    print(f"Type {name} to continue: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != name:
        raise error("That is not the name. Nothing was changed.")


def escape_controls(text: str) -> str:
    """A stored text without its line breaks and escape sequences, which would reach the terminal."""
    return "".join(letter.encode("unicode_escape").decode() if is_disallowed(letter) else letter for letter in text)


def _plain_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> list[str]:
    table = [headings, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(headings))]
    lines: list[str] = []
    for row in table:
        cells = [
            cell.rjust(width) if heading in right else cell.ljust(width)
            for cell, width, heading in zip(row, widths, headings, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def format_bytes(size: float) -> str:
    """A number of bytes in a readable unit."""
    for unit in _BYTE_UNITS:
        if size < 1000 or unit == _BYTE_UNITS[-1]:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError("The last unit fits every size.")


def format_time(millis: int, pattern: str) -> str:
    """A time in UTC."""
    return datetime.fromtimestamp(millis / 1000, UTC).strftime(pattern)
