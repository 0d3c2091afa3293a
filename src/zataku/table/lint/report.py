"""The report of the lint: findings, waivers, and their text."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from zataku.table.schema.design_notes import Waiver
from zataku.table.schema.table import Table


class Violation(Struct, frozen=True):
    """What a rule reports: the subject, what is wrong with it, and what to do."""

    subject: str
    message: str
    advice: str


Rule: TypeAlias = Callable[[Table], Iterator[Violation]]


class Finding(Struct, frozen=True):
    """A violation under the name of its rule."""

    rule: str
    subject: str
    message: str
    advice: str
    table: str

    def text(self) -> str:
        """The finding in three lines."""
        return f"{self.rule}: {self.table} {self.subject}\n  {self.message}\n  → {self.advice}"


class Waived(Struct, frozen=True):
    """A finding that the design accepts, with the waiver that says why."""

    finding: Finding
    waiver: Waiver

    def text(self) -> str:
        """The finding with the reason and the limit of its waiver."""
        finding = self.finding
        return (
            f"waived {finding.rule}: {finding.table} {finding.subject}\n  {finding.message}\n"
            f"  reason: {self.waiver.reason}\n  limit: {self.waiver.limit}"
        )


class Report(Struct, frozen=True):
    """The findings of one or several tables. `unused` waivers match no finding and count as findings themselves."""

    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    unused: tuple[Waiver, ...]

    @property
    def is_clean(self) -> bool:
        """True when every violation is fixed or waived."""
        return not self.findings

    def text(self) -> str:
        """The whole report: findings first, waivers after them, a count at the end."""
        parts = [finding.text() for finding in self.findings]
        parts += [waived.text() for waived in self.waived]
        parts.append(f"{_counted(len(self.findings), 'finding')}, {len(self.waived)} waived.")
        return "\n\n".join(parts)


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
