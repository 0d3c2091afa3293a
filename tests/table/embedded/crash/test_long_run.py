"""A long run kills as many writers as asked, and its summary names what was lost."""

from pathlib import Path

from tests.table.embedded.crash.__main__ import summary_text
from tests.table.embedded.crash.crash_rounds import CrashSummary, run_rounds


def test_a_run_reports_each_round(tmp_path: Path):
    seen: list[int] = []
    summary = run_rounds(tmp_path / "ledger.db", 3, 1, lambda so_far: seen.append(so_far.rounds))
    assert seen == [1, 2, 3]
    assert summary.rounds == 3
    assert summary.problems == []


def test_a_file_that_cannot_be_opened_is_a_problem_in_the_summary(tmp_path: Path):
    (tmp_path / "ledger.db").write_bytes(b"no database" * 1000)
    summary = run_rounds(tmp_path / "ledger.db", 3, 1)
    assert summary.rounds == 0
    assert len(summary.problems) == 1
    assert summary.problems[0].startswith("Round 1: ")


def test_a_summary_has_the_rounds_the_writes_the_losses_and_the_seed():
    text = summary_text(CrashSummary(seed=7, rounds=12, acknowledged=3456, problems=["put/c0 is None."]), 61.2)
    assert text.splitlines() == [
        "rounds               12",
        "acknowledged writes  3,456",
        "lost or damaged      1",
        "seed                 7",
        "duration             61 s",
        "put/c0 is None.",
    ]
