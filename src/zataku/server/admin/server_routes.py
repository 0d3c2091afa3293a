"""Routes of the server: the overview, the history, tables with their items, and jobs."""

from litestar import get, post
from litestar.params import FromQuery, JSONBody

from zataku.server.admin.dependencies import (
    Admin,
    After,
    ItemLimit,
    JobLimit,
    KeyText,
    Minutes,
    Services,
    StateFilter,
    TableName,
    audit,
)
from zataku.server.admin.messages import (
    ItemPage,
    JobName,
    JobPage,
    KeyCondition,
    MetricHistory,
    Overview,
    TableDetail,
    Tables,
)
from zataku.server.admin.tables.browser import ItemQuery, browse


@get("/overview", summary="The server at a glance")
async def show_overview(admin: Admin, services: Services) -> Overview:  # noqa: ARG001 - taking the admin is the access check
    """Version, store, bus, process, sockets, rooms and jobs as they are now."""
    return await services.overview.read()


@get("/history", summary="The last day in figures")
async def show_history(admin: Admin, services: Services, minutes: Minutes = 60) -> MetricHistory:  # noqa: ARG001
    """Requests, sockets, rooms, units, lag and memory over the last minutes, in at most 400 points."""
    return services.history.over(minutes)


@get("/tables", summary="All tables")
async def list_tables(admin: Admin, services: Services) -> Tables:  # noqa: ARG001
    """Every table with its size, the use of its access patterns, and its cost of a month on DynamoDB."""
    return await services.tables.overview()


@get("/tables/{name:str}", summary="One table")
async def show_table(admin: Admin, services: Services, name: TableName) -> TableDetail:  # noqa: ARG001
    """A table with its keys, indexes, entities and fields."""
    return await services.tables.detail(name)


@get("/tables/{name:str}/items", summary="Items of a table")
async def list_items(
    admin: Admin,  # noqa: ARG001
    services: Services,
    name: TableName,
    index: KeyText = None,
    pk: KeyText = None,
    op: FromQuery[KeyCondition | None] = None,
    sk: KeyText = None,
    sk2: KeyText = None,
    newest: FromQuery[bool] = False,
    unreadable: FromQuery[bool] = False,
    limit: ItemLimit = 25,
    after: After = None,
) -> ItemPage:
    """A partition by its key, narrowed by sort key; without `pk` a page of everything. Secrets are masked.

    With `unreadable`, the items that do not fit their entity. One page of these looks at up to 2,000 items, and may be
    empty although `next` goes on.
    """
    query = ItemQuery(
        index=index,
        pk=pk,
        op=op,
        sk=sk,
        sk2=sk2,
        newest=newest,
        unreadable=unreadable,
        limit=limit,
        after=after,
    )
    return await browse(services.store, services.tables.table(name), query)


@get("/jobs", summary="Jobs")
async def list_jobs(
    admin: Admin,  # noqa: ARG001
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


HANDLERS = (show_overview, show_history, list_tables, show_table, list_items, list_jobs, retry_job, cancel_job)
