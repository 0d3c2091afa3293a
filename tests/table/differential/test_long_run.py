"""A long run makes as many calls as asked, and its summary names what differed."""

from tests.table.differential.__main__ import TwinsSummary, run_calls, summary_text


def test_a_run_makes_at_least_the_calls_that_were_asked_for():
    seen: list[int] = []
    summary = run_calls(60, 1, lambda so_far: seen.append(so_far.calls))
    assert summary.calls >= 60
    assert seen[-1] == summary.calls
    assert summary.differences == []


def test_a_summary_has_the_calls_the_differences_and_the_seed():
    text = summary_text(TwinsSummary(seed=7, calls=1234, differences=["Seed 8: GetItem"]), 90.4)
    assert text.splitlines() == [
        "calls        1,234",
        "differences  1",
        "seed         7",
        "duration     90 s",
        "Seed 8: GetItem",
    ]
