"""The list of jobs on the admin page."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from zataku.clock import Clock, now_ms
from zataku.errors import InvalidRequest
from zataku.platform.design import DueJob, Job, coming_jobs, dead_jobs
from zataku.platform.limits import JOB_SHARDS, JobState
from zataku.server.admin.messages import JobCount, JobPage, JobView
from zataku.table import BadCursor, Millis, Store, UnreadableItem

_MAX_COUNTED_PER_SHARD = 500
_ShardCursors = dict[int, str | None]
_cursor_decoder = msgspec.json.Decoder(_ShardCursors)


class JobList:
    """Reads pages of jobs over all shards of their indexes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def count(self) -> JobCount:
        """The number of jobs by state, counted up to a limit per shard."""
        waiting, running, dead, more = 0, 0, 0, False
        for shard in range(JOB_SHARDS):
            coming = await self._store.page(coming_jobs(shard), limit=_MAX_COUNTED_PER_SHARD, unreadable=_leave_out)
            died = await self._store.page(dead_jobs(shard), limit=_MAX_COUNTED_PER_SHARD, unreadable=_leave_out)
            runs = sum(job.state == "running" for job in coming.items)
            waiting, running, dead = waiting + len(coming.items) - runs, running + runs, dead + len(died.items)
            more = more or coming.cursor is not None or died.cursor is not None
        return JobCount(waiting=waiting, running=running, dead=dead, more=more)

    async def page(self, state: JobState | None, limit: int, after: str | None) -> JobPage:
        """A page of jobs, some of each shard; dead ones only for `state="dead"`."""
        cursors = _decode_cursor(after) if after else dict.fromkeys(range(JOB_SHARDS))
        share = max(1, limit // len(cursors))
        views: list[JobView] = []
        following: _ShardCursors = {}
        for shard, cursor in cursors.items():
            shard_views, next_cursor = await self._shard(shard, state, share, cursor)
            views += [view for view in shard_views if state in (None, view.state)]
            if next_cursor is not None:
                following[shard] = next_cursor
        views.sort(key=_latest_death if state == "dead" else _due_time)
        return JobPage(jobs=views, next=_encode_cursor(following) if following else None)

    async def _shard(
        self, shard: int, state: JobState | None, limit: int, after: str | None
    ) -> tuple[list[JobView], str | None]:
        now = now_ms(self._clock)
        try:
            if state == "dead":
                died = await self._store.page(dead_jobs(shard), limit=limit, after=after, unreadable=_leave_out)
                return [_dead_view(job) for job in died.items], died.cursor
            coming = await self._store.page(coming_jobs(shard), limit=limit, after=after, unreadable=_leave_out)
        except BadCursor:
            raise _bad_cursor() from None
        return [_coming_view(job, now) for job in coming.items], coming.cursor


def _leave_out(_: UnreadableItem) -> None:
    """Leave out a job that cannot be read: the runner logs it, and the browser of items shows it."""


def _coming_view(job: DueJob, now: Millis) -> JobView:
    return JobView(
        system=job.system,
        kind=job.kind,
        subject=job.subject,
        state=job.state,
        due_at=job.due_at,
        attempts=job.attempts,
        owner=job.owner,
        lapsed=job.state == "running" and job.due_at <= now,
    )


def _dead_view(job: Job) -> JobView:
    return JobView(
        system=job.system,
        kind=job.kind,
        subject=job.subject,
        state=job.state,
        due_at=None,
        attempts=job.attempts,
        owner=job.owner,
        died_at=job.died_at,
        last_error=job.last_error,
    )


def _due_time(view: JobView) -> tuple[Millis, str]:
    return view.due_at or 0, view.subject


def _latest_death(view: JobView) -> tuple[Millis, str]:
    return -(view.died_at or 0), view.subject


def _encode_cursor(cursors: _ShardCursors) -> str:
    return urlsafe_b64encode(msgspec.json.encode(cursors)).rstrip(b"=").decode()


def _decode_cursor(text: str) -> _ShardCursors:
    try:
        cursors = _cursor_decoder.decode(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except ValueError:
        raise _bad_cursor() from None
    if not cursors or not set(cursors) <= set(range(JOB_SHARDS)):
        raise _bad_cursor()
    return cursors


def _bad_cursor() -> InvalidRequest:
    return InvalidRequest("The list cannot be continued from there. Start from its beginning.", code="bad_cursor")
