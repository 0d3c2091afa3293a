"""The jobs of all systems as the admin page lists and moves them."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import uuid4

import msgspec

from zataku.clock import Clock
from zataku.errors import Conflict, InvalidRequest, NotFound
from zataku.platform import writes
from zataku.platform.design import DueJob, Job, coming_jobs, dead_jobs, job
from zataku.platform.limits import JOB_SHARDS, JobState
from zataku.server.admin.messages import JobCount, JobName, JobPage, JobView
from zataku.table import BadCursor, Millis, Plan, Store, TransactionCancelled

_MOST_COUNTED = 500
_Places = dict[int, str | None]
_places = msgspec.json.Decoder(_Places)


class JobList:
    """All jobs, spread over the shards of their indexes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def count(self) -> JobCount:
        """How many there are, as far as a few pages tell."""
        waiting, running, dead, more = 0, 0, 0, False
        for shard in range(JOB_SHARDS):
            coming = await self._store.page(coming_jobs(shard), limit=_MOST_COUNTED)
            died = await self._store.page(dead_jobs(shard), limit=_MOST_COUNTED)
            runs = sum(each.state == "running" for each in coming.items)
            waiting, running, dead = waiting + len(coming.items) - runs, running + runs, dead + len(died.items)
            more = more or coming.cursor is not None or died.cursor is not None
        return JobCount(waiting=waiting, running=running, dead=dead, more=more)

    async def page(self, state: JobState | None, limit: int, after: str | None) -> JobPage:
        """Some jobs of each shard, in order; dead ones only when they are asked for."""
        places = _read(after) if after else dict.fromkeys(range(JOB_SHARDS))
        share = max(1, limit // len(places))
        views: list[JobView] = []
        going_on: _Places = {}
        for shard, place in places.items():
            found, following = await self._shard(shard, state, share, place)
            views += [view for view in found if state in (None, view.state)]
            if following is not None:
                going_on[shard] = following
        views.sort(key=_newest_death if state == "dead" else _due)
        return JobPage(jobs=views, next=_written(going_on) if going_on else None)

    async def retry(self, which: JobName) -> None:
        """Have a dead job tried anew, or a waiting one at once."""
        found = await self._found(which)
        now = self._now()
        if found.state == "dead":
            await self._write(writes.retry_job(which.system, which.kind, which.subject, now))
        elif _runs(found, now):
            raise _running()
        else:
            await self._write(writes.move_job(which.system, which.kind, which.subject, now, now))

    async def cancel(self, which: JobName) -> None:
        """Take a job away that nobody runs."""
        if _runs(await self._found(which), self._now()):
            raise _running()
        await self._write(writes.cancel_job(which.system, which.kind, which.subject, self._now()))

    async def _shard(
        self, shard: int, state: JobState | None, limit: int, after: str | None
    ) -> tuple[list[JobView], str | None]:
        now = self._now()
        try:
            if state == "dead":
                died = await self._store.page(dead_jobs(shard), limit=limit, after=after)
                return [_dead(each) for each in died.items], died.cursor
            coming = await self._store.page(coming_jobs(shard), limit=limit, after=after)
        except BadCursor:
            raise _bad_place() from None
        return [_coming(each, now) for each in coming.items], coming.cursor

    async def _found(self, which: JobName) -> Job:
        found = await self._store.get(job(which.system, which.kind, which.subject))
        if found is None:
            raise NotFound("There is no such job any more. It may be done.", code="no_such_job")
        return found

    async def _write(self, plan: Plan[Job]) -> None:
        try:
            # With a token a lost reply is tried again by itself.
            await self._store.write(plan, token=str(uuid4()))
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise Conflict("The job has changed meanwhile. Look again, then try once more.") from None

    def _now(self) -> Millis:
        return int(self._clock.now() * 1000)


def _coming(each: DueJob, now: Millis) -> JobView:
    return JobView(
        system=each.system,
        kind=each.kind,
        subject=each.subject,
        state=each.state,
        due_at=each.due_at,
        attempts=each.attempts,
        owner=each.owner,
        lapsed=each.state == "running" and each.due_at <= now,
    )


def _dead(each: Job) -> JobView:
    return JobView(
        system=each.system,
        kind=each.kind,
        subject=each.subject,
        state=each.state,
        due_at=None,
        attempts=each.attempts,
        owner=each.owner,
        died_at=each.died_at,
        last_error=each.last_error,
    )


def _due(view: JobView) -> tuple[Millis, str]:
    return view.due_at or 0, view.subject


def _newest_death(view: JobView) -> tuple[Millis, str]:
    return -(view.died_at or 0), view.subject


def _runs(found: Job, now: Millis) -> bool:
    return found.state == "running" and found.due_at is not None and found.due_at > now


def _running() -> Conflict:
    return Conflict("The job is running. Wait until the run is over, then look again.", code="job_running")


def _written(places: _Places) -> str:
    return urlsafe_b64encode(msgspec.json.encode(places)).rstrip(b"=").decode()


def _read(text: str) -> _Places:
    try:
        places = _places.decode(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except ValueError:
        raise _bad_place() from None
    if not places or not set(places) <= set(range(JOB_SHARDS)):
        raise _bad_place()
    return places


def _bad_place() -> InvalidRequest:
    return InvalidRequest("The list does not go on there. Start from its beginning.", code="bad_cursor")
