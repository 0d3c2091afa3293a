"""Findings in the short form that tests compare."""

from zataku.table import Table
from zataku.table.lint import lint


def found(table: Table) -> list[tuple[str, str]]:
    """The rule and subject of each finding."""
    return [(finding.rule, finding.subject) for finding in lint(table).findings]


def message(table: Table) -> str:
    """The sentence of the only finding."""
    (finding,) = lint(table).findings
    return finding.message
