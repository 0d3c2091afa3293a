"""Findings of a table as tests compare them."""

from zataku.table import Table
from zataku.table.lint import lint


def findings_of(table: Table) -> list[tuple[str, str]]:
    """The rule and subject of each finding."""
    return [(finding.rule, finding.subject) for finding in lint(table).findings]


def message_of(table: Table) -> str:
    """The sentence of the only finding."""
    (finding,) = lint(table).findings
    return finding.message
