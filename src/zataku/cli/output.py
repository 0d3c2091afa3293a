"""Printing for a person at a terminal and for a program at the end of a pipe.

A terminal gets colours and rules; a pipe gets plain columns as wide as they need to be, so that nothing is cut off.
"""

import sys
from collections.abc import Collection, Sequence


def at_terminal() -> bool:
    """True when somebody looks at what is printed."""
    return sys.stdout.isatty()


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = ()) -> None:
    """A table; the columns named in `right` hold figures."""
    if not at_terminal():
        print("\n".join(_plain(headings, rows, right)))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for heading in headings:
        figures = heading in right
        # Names that do not fit are folded: one that is cut short cannot be typed again.
        table.add_column(heading, justify="right" if figures else "left", no_wrap=figures, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Names and values, one pair a line."""
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        print(f"{name:<{width}}  {value}")


def markdown(text: str) -> None:
    """A document: set for reading on a terminal, as it is otherwise."""
    if not at_terminal():
        print(text, end="" if text.endswith("\n") else "\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))


def aside(line: str) -> None:
    """A line for the person that is no part of the result."""
    print(line, file=sys.stderr, flush=True)


def _plain(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> list[str]:
    every = [headings, *rows]
    widths = [max(len(row[at]) for row in every) for at in range(len(headings))]
    lines: list[str] = []
    for row in every:
        cells = [
            cell.rjust(width) if heading in right else cell.ljust(width)
            for cell, width, heading in zip(row, widths, headings, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
