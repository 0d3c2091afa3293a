"""Rules of a sound design, checked before any item is stored.

    report = lint(board)
    print(report.text())

A finding is fixed or waived: `Table(..., waivers=[Waiver(rule, subject, reason, limit)])`. A design module ends with
`check(board)`, which refuses findings that are neither.
"""

from zataku.table.lint.linter import RULES, check, lint, lint_all, lint_disabled
from zataku.table.lint.report import Finding, Report, Waived
from zataku.table.schema.analysis.item_size import MaxItemSize, max_item_size

__all__ = [
    "RULES",
    "Finding",
    "MaxItemSize",
    "Report",
    "Waived",
    "check",
    "lint",
    "lint_all",
    "lint_disabled",
    "max_item_size",
]
