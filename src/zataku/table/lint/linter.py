"""The rules by their names, and the lint that checks tables against them."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

from zataku.table.backend.errors import DesignError
from zataku.table.lint.colliding_keys import colliding_keys
from zataku.table.lint.entities import item_too_large, missing_ttl, undocumented
from zataku.table.lint.hot_partitions import hot_partition
from zataku.table.lint.indexes import projection_lacks_field, unfed_index
from zataku.table.lint.patterns import no_example, unanswerable_pattern, unexpected_entity
from zataku.table.lint.report import Finding, Report, Rule, Waived
from zataku.table.lint.unpadded_numbers import unpadded_number
from zataku.table.lint.writes import failing_write
from zataku.table.schema.design_notes import Waiver
from zataku.table.schema.table import Table

UNUSED_WAIVER = "unused-waiver"
_enabled = ContextVar("lint_enabled", default=True)

# The docstring of a rule is its documentation.
RULES: dict[str, Rule] = {
    "projection-lacks-field": projection_lacks_field,
    "unpadded-number": unpadded_number,
    "unfed-index": unfed_index,
    "item-too-large": item_too_large,
    "hot-partition": hot_partition,
    "unanswerable-pattern": unanswerable_pattern,
    "unexpected-entity": unexpected_entity,
    "colliding-keys": colliding_keys,
    "failing-write": failing_write,
    "missing-ttl": missing_ttl,
    "no-example": no_example,
    "undocumented": undocumented,
}


def lint(table: Table) -> Report:
    """The findings of a table, and those that it waives."""
    for waiver in table.waivers:
        _require_complete(table, waiver)
    waivers = {(waiver.rule, waiver.subject): waiver for waiver in table.waivers}
    findings: list[Finding] = []
    waived: list[Waived] = []
    for finding in _findings(table):
        waiver = waivers.get((finding.rule, finding.subject))
        if waiver is None:
            findings.append(finding)
        else:
            waived.append(Waived(finding, waiver))
    used = {(accepted.waiver.rule, accepted.waiver.subject) for accepted in waived}
    unused = tuple(waiver for waiver in table.waivers if (waiver.rule, waiver.subject) not in used)
    findings += [_unused_waiver(table, waiver) for waiver in unused]
    return Report(tuple(findings), tuple(waived), unused)


def lint_all(tables: Iterable[Table]) -> Report:
    """The findings of several tables in one report."""
    reports = [lint(table) for table in tables]
    return Report(
        tuple(finding for report in reports for finding in report.findings),
        tuple(waived for report in reports for waived in report.waived),
        tuple(waiver for report in reports for waiver in report.unused),
    )


def check(*tables: Table) -> None:
    """Refuse designs with findings. Called at the end of a design module, so that importing it is linting it."""
    if not _enabled.get():
        return
    report = lint_all(tables)
    if report.is_clean:
        return
    names = ", ".join(table.name for table in tables)
    listed = "\n\n".join(finding.text() for finding in report.findings)
    raise DesignError(
        f"The design of {names} has findings. Fix each, or waive it with a reason and a limit.\n\n{listed}",
        findings=report.findings,
    )


@contextmanager
def lint_disabled() -> Generator[None]:
    """Load designs without the lint: those of a release were checked before, and a server starts sooner."""
    token = _enabled.set(False)
    try:
        yield
    finally:
        _enabled.reset(token)


def _findings(table: Table) -> Iterable[Finding]:
    for rule, find_violations in RULES.items():
        for violation in find_violations(table):
            yield Finding(rule, violation.subject, violation.message, violation.advice, table.name)


def _require_complete(table: Table, waiver: Waiver) -> None:
    for part in ("rule", "subject", "reason", "limit"):
        if not getattr(waiver, part).strip():
            raise DesignError(
                f"{table.name}: the waiver of {waiver.rule} for {waiver.subject} has no {part}. "
                "Say why the finding is accepted, and up to which size or rate."
            )


def _unused_waiver(table: Table, waiver: Waiver) -> Finding:
    if waiver.rule in RULES:
        message = f"{waiver.rule} finds nothing to waive at {waiver.subject}."
    else:
        message = f"There is no rule {waiver.rule}. The rules are: {', '.join(RULES)}."
    subject = f"{waiver.rule} {waiver.subject}"
    return Finding(UNUSED_WAIVER, subject, message, "Remove the waiver, or correct its rule and subject.", table.name)
