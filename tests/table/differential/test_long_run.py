"""A long run makes as many calls as asked, and its summary names what differed."""

import pytest

from tests.table.differential import __main__ as long_run
from tests.table.differential.__main__ import CountingMachine, TwinsSummary, run_calls, summary_text


def test_a_run_makes_at_least_the_calls_that_were_asked_for():
    seen: list[int] = []
    summary = run_calls(60, 1, lambda so_far: seen.append(so_far.calls))
    assert summary.calls >= 60
    assert seen[-1] == summary.calls
    assert summary.differences == []


@pytest.mark.parametrize("error", [AssertionError, ValueError])
def test_a_run_goes_on_after_a_difference_and_after_any_other_failure(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
):
    def run_batch(number: int, _: int) -> None:
        CountingMachine.calls += 30
        if number == 1:
            raise error("ours and theirs")

    monkeypatch.setattr(long_run, "_run_batch", run_batch)
    summary = run_calls(60, 1)
    assert summary.calls == 60
    assert len(summary.differences) == 1
    assert "ours and theirs" in summary.differences[0]


def test_a_run_ends_when_no_call_can_be_made(monkeypatch: pytest.MonkeyPatch):
    def run_batch(_: int, __: int) -> None:
        raise OSError("no server")

    monkeypatch.setattr(long_run, "_run_batch", run_batch)
    with pytest.raises(OSError, match="no server"):
        run_calls(60, 1)


def test_a_summary_has_the_calls_the_differences_and_the_seed():
    text = summary_text(TwinsSummary(seed=7, calls=1234, differences=["Seed 8: GetItem"]), 90.4)
    assert text.splitlines() == [
        "calls        1,234",
        "differences  1",
        "seed         7",
        "duration     90 s",
        "Seed 8: GetItem",
    ]
