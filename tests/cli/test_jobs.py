"""Jobs on the command line: listed beside a running server, retried and cancelled without one."""

import asyncio
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cli.command_line import CommandLine
from zataku.platform.design import TABLES, Job
from zataku.platform.design import job as job_item
from zataku.platform.limits import OwnerId
from zataku.table import open_embedded

NOW = 1_767_225_600_000
FILE = Path("data/zataku.db")
WAITING = Job(system="othello", kind="close_turn", subject="3f2a#7", scheduled_for=NOW, due_at=NOW, run=NOW)
FAILING = replace(WAITING, subject="3f2a#8", due_at=NOW + 20_000, attempts=3, last_error="OSError: no disk")
RUNNING = replace(WAITING, subject="3f2a#9", state="running", owner=OwnerId("web-1"), due_at=9_999_999_999_999)
DEAD = replace(WAITING, subject="3f2a#6", state="dead", due_at=None, died_at=NOW - 5, attempts=40, last_error="boom")


async def store_jobs(*jobs: Job) -> None:
    async with await open_embedded(FILE, TABLES) as store:
        await store.write_many(put=jobs)


async def stored_job(job: Job) -> Job | None:
    async with await open_embedded(FILE, TABLES) as store:
        return await store.get(job_item(job.system, job.kind, job.subject))


@pytest.fixture
def server(host: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line whose store has a job of each state."""
    for name in ("ZATAKU_DATA", "ZATAKU_ENV", "ZATAKU_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    asyncio.run(store_jobs(WAITING, FAILING, RUNNING, DEAD))
    return host


def test_dead_jobs_are_listed_first_and_the_others_by_due_time(server: CommandLine):
    lines = server.good("jobs").splitlines()
    assert [line.split()[0] for line in lines] == ["state", "dead", "waiting", "waiting", "running"]
    assert "2026-01-01 00:00:20 UTC" in lines[3]
    assert lines[3].endswith("OSError: no disk")
    assert "web-1" in lines[4]


def test_jobs_are_listed_as_json(server: CommandLine):
    listed = json.loads(server.good("jobs", "--json", "--most", "2"))
    assert [job["state"] for job in listed["jobs"]] == ["dead", "waiting"]
    assert listed["more"] is True
    assert listed["jobs"][0]["error"] == "boom"


def test_jobs_are_listed_but_not_changed_while_a_server_holds_the_store(server: CommandLine):
    async def run_while_held() -> tuple[str, str, str]:
        async with await open_embedded(FILE, TABLES):
            return (
                await asyncio.to_thread(server.good, "jobs"),
                await asyncio.to_thread(server.refused, "jobs", "retry", "othello", "close_turn", "3f2a#6"),
                await asyncio.to_thread(server.refused, "jobs", "cancel", "othello", "close_turn", "3f2a#6"),
            )

    listed, *refused = asyncio.run(run_while_held())
    assert "3f2a#6" in listed
    assert all("admin page, or stop it first" in line for line in refused)
    assert asyncio.run(stored_job(DEAD)) == DEAD


def test_a_dead_job_is_retried(server: CommandLine):
    assert server.good("jobs", "retry", "othello", "close_turn", "3f2a#6") == "othello close_turn 3f2a#6 is due now.\n"
    job = asyncio.run(stored_job(DEAD))
    assert job is not None
    assert (job.state, job.attempts, job.due_at is not None) == ("waiting", 0, True)


@pytest.mark.parametrize("action", ["retry", "cancel"])
def test_a_running_job_is_neither_retried_nor_cancelled(server: CommandLine, action: str):
    result = server.refused("jobs", action, "othello", "close_turn", "3f2a#9")
    assert result == "zataku: It's running right now. Try again when it's done. (job_running)"
    assert asyncio.run(stored_job(RUNNING)) == RUNNING


def test_a_job_is_cancelled(server: CommandLine):
    assert "is cancelled" in server.good("jobs", "cancel", "othello", "close_turn", "3f2a#8")
    assert asyncio.run(stored_job(FAILING)) is None


@pytest.mark.parametrize("action", ["retry", "cancel"])
@pytest.mark.parametrize("subject", ["3f2a#1", "not a subject", "x" * 121])
def test_a_missing_job_is_reported_as_not_found(server: CommandLine, action: str, subject: str):
    assert "There is no such job." in server.refused("jobs", action, "othello", "close_turn", subject)


def test_listing_jobs_does_not_create_a_store(host: CommandLine):
    assert "There is no store" in host.refused("jobs")
    assert not FILE.exists()
