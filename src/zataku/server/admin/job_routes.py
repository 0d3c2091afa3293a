"""Routes of jobs: list, retry and cancel."""

from litestar import get, post
from litestar.params import JSONBody

from zataku.server.admin.dependencies import Admin, After, JobLimit, Services, StateFilter, audit
from zataku.server.admin.messages import JobName, JobPage


@get("/jobs", summary="Jobs")
async def list_jobs(
    admin: Admin,  # noqa: ARG001 - taking the admin is the access check
    services: Services,
    job_state: StateFilter = None,
    limit: JobLimit = 100,
    after: After = None,
) -> JobPage:
    """Jobs that wait or run, by due time; with `state=dead` the dead ones."""
    return await services.jobs.page(job_state, limit, after)


@post("/jobs/retry", status_code=204, summary="Try a job now")
async def retry_job(admin: Admin, services: Services, data: JSONBody[JobName]) -> None:
    """Make a dead job due now with new attempts, or a waiting one now instead of later. A running one is refused."""
    await services.job_administration.retry((data.system, data.kind, data.subject))
    audit(admin, "retry_job", system=data.system, kind=data.kind, subject=data.subject)


@post("/jobs/cancel", status_code=204, summary="Cancel a job")
async def cancel_job(admin: Admin, services: Services, data: JSONBody[JobName]) -> None:
    """Delete a job that does not run. What it was scheduled for does not happen."""
    await services.job_administration.cancel((data.system, data.kind, data.subject))
    audit(admin, "cancel_job", system=data.system, kind=data.kind, subject=data.subject)


HANDLERS = (list_jobs, retry_job, cancel_job)
