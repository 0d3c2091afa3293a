"""A writer process is killed at random moments, many times on the same file; no acknowledged write may be lost."""

from pathlib import Path
from random import Random

from tests.table.embedded.crash.crash_rounds import run_rounds

ROUNDS = 100


def test_no_acknowledged_write_is_lost_when_the_writer_is_killed(tmp_path: Path):
    summary = run_rounds(tmp_path / "ledger.db", ROUNDS, seed=Random().randrange(1, 2**31))
    assert summary.problems == [], f"After {summary.rounds} rounds; repeat it with make crash SEED={summary.seed}."
    assert summary.acknowledged > 5 * ROUNDS, "The writers were killed before they wrote anything worth checking."
