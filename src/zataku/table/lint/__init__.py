"""Finds slips in a table's design before any item is stored.

    report = lint(board)
    print(report.text())

A finding is mended or waived: `Table(..., waivers=[Waiver(rule, subject, reason, limit)])`. A design module ends with
`check(board)`, which refuses findings that are neither.
"""

from zataku.table.lint.largest import Size, largest_item
from zataku.table.lint.linting import RULES, check, lint, lint_all, unlinted
from zataku.table.lint.report import Finding, Report, Waived

__all__ = ["RULES", "Finding", "Report", "Size", "Waived", "check", "largest_item", "lint", "lint_all", "unlinted"]
