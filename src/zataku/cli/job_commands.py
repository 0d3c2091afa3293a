"""Commands about jobs: list, retry and cancel."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, TypeAlias

import msgspec
from cyclopts import App, Parameter

from zataku.cli.execution import NOTHING_CHANGED, run_to_end
from zataku.cli.output import format_time, print_columns
from zataku.cli.server_options import DEFAULT_SERVER, ServerOptions, ServerTarget
from zataku.cli.store.options import Flag
from zataku.clock import SystemClock
from zataku.errors import Conflict, InvalidRequest
from zataku.jobs.administration import JobAdministration
from zataku.jobs.schedule import JobId
from zataku.platform.design import Job, coming_jobs, dead_jobs
from zataku.platform.design import job as job_item
from zataku.platform.limits import JOB_SHARDS, JobKind, JobState, Subject, System
from zataku.table import Millis, Store, StoreClosed

app = App(name="jobs", help_format="plaintext")

SystemArgument = Annotated[System, Parameter(help="Whose job it is, as `zataku jobs` shows it.")]
KindArgument = Annotated[JobKind, Parameter(help="What it does.")]
SubjectArgument = Annotated[Subject, Parameter(help="What it is about.")]
JobChange: TypeAlias = Callable[[JobAdministration, JobId], Awaitable[None]]


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
    listing = run_to_end(_list_jobs(server.target(), most), NOTHING_CHANGED)
    if json:
        print(msgspec.json.format(msgspec.json.encode(listing), indent=2).decode())
        return 0
    if not listing.jobs:
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
        for job in listing.jobs
    ]
    print_columns(
        ("state", "due", "system", "kind", "subject", "attempts", "by", "last error"), rows, right=("attempts",)
    )
    if listing.more:
        print(f"\nThere are more than {len(rows):,}. See them with --most.")
    return 0


@app.command
def retry(
    system: SystemArgument, kind: KindArgument, subject: SubjectArgument, /, *, server: ServerOptions = DEFAULT_SERVER
) -> int:
    """Run a job now: one that is dead, or that waits for its time. A running one is left alone."""
    return _change_job(server, (system, kind, subject), JobAdministration.retry, "is due now")


@app.command
def cancel(
    system: SystemArgument, kind: KindArgument, subject: SubjectArgument, /, *, server: ServerOptions = DEFAULT_SERVER
) -> int:
    """Delete a job. What it was scheduled for does not happen. A running one is left alone."""
    return _change_job(server, (system, kind, subject), JobAdministration.cancel, "is cancelled")


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
            for job in coming:
                ids.append((job.due_at, (job.system, job.kind, job.subject)))  # noqa: PERF401 - the checker loses the type
        dead.sort(key=lambda job: job.died_at or 0, reverse=True)
        # The index does not project the last error.
        soonest = [job_item(*job_id) for _, job_id in sorted(ids)[: most + 1]]
        alive = [job for job in await store.get_many(soonest) if job is not None and job.state != "dead"]
    jobs = [_listed(job) for job in [*dead, *alive]]
    return JobListing(jobs=jobs[:most], more=len(jobs) > most)


def _change_job(server: ServerOptions, job_id: JobId, change: JobChange, outcome: str) -> int:
    async def change_stored_job() -> None:
        async with _open(server.target(), read_only=False) as store:
            await change(JobAdministration(store, SystemClock()), job_id)

    run_to_end(change_stored_job(), "Look with `zataku jobs`, then try again.")
    print(f"{' '.join(job_id)} {outcome}.")
    return 0


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
