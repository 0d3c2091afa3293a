"""Reports and waivers: a finding is waived with a reason and a limit, and an unused waiver is a finding."""

from typing import NewType

import pytest

from tests.table.lint.findings import findings_of
from zataku.table import DesignError, Entity, Table, Waiver
from zataku.table.lint import RULES, check, lint, lint_all

UserId = NewType("UserId", str)
HOT = Waiver("hot-partition", "User.pk", "A community has few users.", "10,000 users, 50 writes a second")
UNUSED = Waiver("unpadded-number", "User.sk", "There was a number once.", "999")


def users(*waivers: Waiver, name: str = "Users") -> Table:
    table = Table(name, pk="pk", sk="sk", waivers=waivers)

    @table.entity(pk="users", sk="uname#{user}")
    class User(Entity, frozen=True, kw_only=True):
        """A user."""

        user: UserId

    return table


def test_a_waiver_removes_its_finding() -> None:
    assert findings_of(users()) == [("hot-partition", "User.pk")]
    report = lint(users(HOT))
    assert report.is_clean
    assert report.unused == ()
    (waived,) = report.waived
    assert waived.waiver == HOT
    assert (waived.finding.rule, waived.finding.subject) == ("hot-partition", "User.pk")


def test_a_waiver_of_another_subject_does_not_remove_a_finding() -> None:
    other = Waiver("hot-partition", "Game.pk", "No reason here.", "None.")
    assert findings_of(users(other)) == [("hot-partition", "User.pk"), ("unused-waiver", "hot-partition Game.pk")]


def test_an_unused_waiver_is_a_finding() -> None:
    report = lint(users(HOT, UNUSED))
    assert report.unused == (UNUSED,)
    (finding,) = report.findings
    assert finding.rule == "unused-waiver"
    assert finding.message == "unpadded-number finds nothing to waive at User.sk."


def test_a_waiver_of_an_unknown_rule_lists_the_rules() -> None:
    misspelt = Waiver("hot-partitions", "User.pk", "A reason.", "A limit.")
    finding = lint(users(HOT, misspelt)).findings[0]
    assert finding.message.startswith("There is no rule hot-partitions. The rules are: projection-lacks-field,")


@pytest.mark.parametrize(
    ("waiver", "part"),
    [
        (Waiver("hot-partition", "User.pk", "", "10,000 users"), "reason"),
        (Waiver("hot-partition", "User.pk", "Few users.", " "), "limit"),
    ],
)
def test_a_waiver_without_reason_or_limit_is_refused(waiver: Waiver, part: str) -> None:
    with pytest.raises(DesignError, match=f"the waiver of hot-partition for User.pk has no {part}"):
        lint(users(waiver))


def test_check_refuses_a_design_with_findings_and_lists_them() -> None:
    with pytest.raises(DesignError) as raised:
        check(users(HOT), users(name="Others"))
    assert "The design of Users, Others has findings." in raised.value.message
    assert "hot-partition: Others User.pk" in raised.value.message
    assert "hot-partition: Users" not in raised.value.message
    check(users(HOT))


def test_the_report_of_several_tables_names_the_table_of_each_finding() -> None:
    report = lint_all([users(HOT), users(name="Others"), users(HOT, UNUSED, name="Third")])
    assert [(finding.table, finding.rule) for finding in report.findings] == [
        ("Others", "hot-partition"),
        ("Third", "unused-waiver"),
    ]
    assert [waived.finding.table for waived in report.waived] == ["Users", "Third"]
    assert report.unused == (UNUSED,)


def test_the_report_is_rendered_as_text() -> None:
    limit = "which takes about 1,000 write units and 3,000 read units a second."
    assert lint_all([users(HOT), users(name="Others")]).text().splitlines() == [
        "hot-partition: Others User.pk",
        f"  Every User is in the one partition 'users' of Others, {limit}",
        f"  → {lint(users()).findings[0].advice}",
        "",
        "waived hot-partition: Users User.pk",
        f"  Every User is in the one partition 'users' of Users, {limit}",
        "  reason: A community has few users.",
        "  limit: 10,000 users, 50 writes a second",
        "",
        "1 finding, 1 waived.",
    ]
    assert lint(Table("Empty")).text() == "no findings, 0 waived."


def test_every_rule_has_a_summary_and_an_explanation() -> None:
    for name, rule in RULES.items():
        summary, blank, *explanation = (rule.__doc__ or "").splitlines()
        assert summary.endswith("."), name
        assert not blank, name
        assert explanation, name
