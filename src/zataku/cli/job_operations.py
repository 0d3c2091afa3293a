"""The jobs in a server's store, looked at and changed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec

from zataku.cli.account_operations import House
from zataku.clock import SystemClock
from zataku.errors import Conflict, InvalidRequest, NotFound
from zataku.jobs.administration import JobAdministration
from zataku.jobs.schedule import JobId
from zataku.platform.design import TABLES, Job, coming_jobs, dead_jobs
from zataku.platform.design import job as one_job
from zataku.platform.limits import JOB_SHARDS, JobState
from zataku.table import Millis, Store, StoreClosed, open_store


class ListedJob(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A job for whoever looks after the server. `at` is when it is due, and for a dead one when it died."""

    state: JobState
    at: Millis
    system: str
    kind: str
    subject: str
    attempts: int
    owner: str | None = None
    error: str | None = None


class Listed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Some jobs, and whether there are more."""

    jobs: list[ListedJob]
    more: bool


async def listed(house: House, most: int) -> Listed:
    """Dead jobs, the latest first, then the others by their due time. It only looks, so a server may hold the store."""
    if most < 1:
        raise InvalidRequest("At least one job is listed. Give --most 1 or more.")
    async with _opened(house, read_only=True) as store:
        dead: list[Job] = []
        ids: list[tuple[Millis, JobId]] = []
        for shard in range(JOB_SHARDS):
            dead += (await store.page(dead_jobs(shard), limit=most + 1)).items
            coming = (await store.page(coming_jobs(shard), limit=most + 1)).items
            for it in coming:
                ids.append((it.due_at, (it.system, it.kind, it.subject)))  # noqa: PERF401 - the checker loses the type
        dead.sort(key=lambda it: it.died_at or 0, reverse=True)
        # The index does not hold the last error.
        soonest = [one_job(*id_) for _, id_ in sorted(ids)[: most + 1]]
        alive = [it for it in await store.get_many(soonest) if it is not None and it.state != "dead"]
    jobs = [_listed(it) for it in [*dead, *alive]]
    return Listed(jobs=jobs[:most], more=len(jobs) > most)


def as_json(found: Listed) -> str:
    """The jobs for a program."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()


async def retried(house: House, job_id: JobId) -> str:
    """Make a job due now; returns a sentence for the operator."""
    async with _opened(house, read_only=False) as store:
        await JobAdministration(store, SystemClock()).retry(job_id)
    return f"{' '.join(job_id)} is due now."


async def cancelled(house: House, job_id: JobId) -> str:
    """Delete a job; returns a sentence for the operator."""
    async with _opened(house, read_only=False) as store:
        await JobAdministration(store, SystemClock()).cancel(job_id)
    return f"{' '.join(job_id)} is cancelled."


@asynccontextmanager
async def _opened(house: House, *, read_only: bool) -> AsyncGenerator[Store]:
    place = house.place
    if place.path is not None and not place.path.exists():
        raise NotFound(f"There is no store at {place.path}. Give the server's --data or --store.", code="no_store")
    try:
        # On DynamoDB this means that tables are not made or changed; jobs may be.
        kept = await open_store(place, TABLES, env=house.env, read_only=read_only or place.path is None)
    except StoreClosed as held:
        process = held.details.get("process")
        raise Conflict(
            f"The server (process {process}) holds {place.path}. Change its jobs on the admin page, or stop it first.",
            code="store_held",
        ) from None
    async with kept as store:
        yield store


def _listed(found: Job) -> ListedJob:
    at = found.died_at if found.state == "dead" else found.due_at
    return ListedJob(
        state=found.state,
        at=at or 0,
        system=found.system,
        kind=found.kind,
        subject=found.subject,
        attempts=found.attempts,
        owner=found.owner,
        error=found.last_error,
    )
