"""Commands about jobs: list, retry and cancel."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
from cyclopts import App

from zataku.cli.execution import run_to_end
from zataku.cli.output import format_time, print_columns
from zataku.cli.server_options import DEFAULT_SERVER, ServerOptions, ServerTarget
from zataku.cli.store_options import Flag
from zataku.clock import SystemClock
from zataku.errors import Conflict, InvalidRequest
from zataku.jobs.administration import JobAdministration
from zataku.jobs.schedule import JobId
from zataku.platform.design import Job, coming_jobs, dead_jobs
from zataku.platform.design import job as job_item
from zataku.platform.limits import JOB_SHARDS, JobKind, JobState, Subject, System
from zataku.table import Millis, Store, StoreClosed

app = App(name="jobs", help_format="plaintext")

_INTERRUPTED = "Look with `zataku jobs`, then try again."


@app.default
def list_(*, server: ServerOptions = DEFAULT_SERVER, most: int = 100, json: Flag = False) -> int:
    """List jobs: dead ones first, then those that run or wait, by their due time. It works beside a running server.

    Parameters
    ----------
    most
        How many to list at most.
    json
        Print them for a program.
    """
    found = run_to_end(_list_jobs(server.target(), most), "Nothing was changed.")
    if json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return 0
    if not found.jobs:
        print("There are no jobs.")
        return 0
    rows = [
        (
            job.state,
            format_time(job.at, "%Y-%m-%d %H:%M:%S UTC"),
            job.system,
            job.kind,
            job.subject,
            str(job.attempts),
            job.owner or "",
            job.error or "",
        )
        for job in found.jobs
    ]
    print_columns(
        ("state", "due", "system", "kind", "subject", "attempts", "by", "last error"), rows, right=("attempts",)
    )
    if found.more:
        print(f"\nThere are more than {len(rows):,}. See them with --most.")
    return 0


@app.command
def retry(system: System, kind: JobKind, subject: Subject, /, *, server: ServerOptions = DEFAULT_SERVER) -> int:
    """Have a job run now: one that is dead, or that waits for its time. A running one is left alone.

    Parameters
    ----------
    system
        Whose job it is, as `zataku jobs` shows it.
    kind
        What it does.
    subject
        What it is about.
    """
    print(run_to_end(_retry(server.target(), (system, kind, subject)), _INTERRUPTED))
    return 0


@app.command
def cancel(system: System, kind: JobKind, subject: Subject, /, *, server: ServerOptions = DEFAULT_SERVER) -> int:
    """Delete a job. What it was scheduled for does not happen. A running one is left alone.

    Parameters
    ----------
    system
        Whose job it is, as `zataku jobs` shows it.
    kind
        What it does.
    subject
        What it is about.
    """
    print(run_to_end(_cancel(server.target(), (system, kind, subject)), _INTERRUPTED))
    return 0


class ListedJob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A job in the list. `at` is its due time, and for a dead one the time of its death."""

    state: JobState
    at: Millis
    system: str
    kind: str
    subject: str
    attempts: int
    owner: str | None = None
    error: str | None = None


class JobListing(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Listed jobs, and whether there are more."""

    jobs: list[ListedJob]
    more: bool


async def _list_jobs(target: ServerTarget, most: int) -> JobListing:
    """Dead jobs, the latest first, then the others by due time. It only reads, so that a server may hold the store."""
    if most < 1:
        raise InvalidRequest("At least one job is listed. Give --most 1 or more.")
    async with _open(target, read_only=True) as store:
        dead: list[Job] = []
        ids: list[tuple[Millis, JobId]] = []
        for shard in range(JOB_SHARDS):
            dead += (await store.page(dead_jobs(shard), limit=most + 1)).items
            coming = (await store.page(coming_jobs(shard), limit=most + 1)).items
            for due in coming:
                ids.append((due.due_at, (due.system, due.kind, due.subject)))  # noqa: PERF401 - the checker loses the type
        dead.sort(key=lambda job: job.died_at or 0, reverse=True)
        # The index does not project the last error.
        soonest = [job_item(*job_id) for _, job_id in sorted(ids)[: most + 1]]
        alive = [job for job in await store.get_many(soonest) if job is not None and job.state != "dead"]
    jobs = [_listed(job) for job in [*dead, *alive]]
    return JobListing(jobs=jobs[:most], more=len(jobs) > most)


async def _retry(target: ServerTarget, job_id: JobId) -> str:
    async with _open(target, read_only=False) as store:
        await JobAdministration(store, SystemClock()).retry(job_id)
    return f"{' '.join(job_id)} is due now."


async def _cancel(target: ServerTarget, job_id: JobId) -> str:
    async with _open(target, read_only=False) as store:
        await JobAdministration(store, SystemClock()).cancel(job_id)
    return f"{' '.join(job_id)} is cancelled."


@asynccontextmanager
async def _open(target: ServerTarget, *, read_only: bool) -> AsyncGenerator[Store]:
    try:
        async with target.open_platform(SystemClock(), read_only=read_only) as store:
            yield store
    except StoreClosed as held:
        process = held.details.get("process")
        raise Conflict(
            f"The server (process {process}) holds {target.url.path}. Change its jobs on the admin page, or stop it "
            "first.",
            code="store_held",
        ) from None


def _listed(job: Job) -> ListedJob:
    at = job.died_at if job.state == "dead" else job.due_at
    return ListedJob(
        state=job.state,
        at=at or 0,
        system=job.system,
        kind=job.kind,
        subject=job.subject,
        attempts=job.attempts,
        owner=job.owner,
        error=job.last_error,
    )
