"""Routes that only look: the server at a glance, its last day, its tables and their items."""

from litestar import get
from litestar.params import FromQuery

from zataku.server.admin.dependencies import Admin, TheDesk
from zataku.server.admin.messages import HistoryAnswer, ItemPage, KeyCondition, Overview, TableDetail, Tables
from zataku.server.admin.parameters import After, Items, Minutes, TableName, Text
from zataku.server.admin.tables.browser import Wanted, browse


@get("/overview", summary="The server at a glance")
async def show_overview(admin: Admin, desk: TheDesk) -> Overview:  # noqa: ARG001 - asking for the admin is the guard
    """Version, store, bus, process, sockets, rooms and jobs as they are now."""
    return await desk.glance.now()


@get("/history", summary="The last day in figures")
async def show_history(admin: Admin, desk: TheDesk, minutes: Minutes = 60) -> HistoryAnswer:  # noqa: ARG001
    """Requests, sockets, rooms, units, lag and memory over the last minutes, in at most 400 points."""
    return desk.history.over(minutes)


@get("/tables", summary="All tables")
async def list_tables(admin: Admin, desk: TheDesk) -> Tables:  # noqa: ARG001
    """Every table with its size, the use of its access patterns, and what a month of it would cost on DynamoDB."""
    return await desk.figures.all()


@get("/tables/{name:str}", summary="One table")
async def show_table(admin: Admin, desk: TheDesk, name: TableName) -> TableDetail:  # noqa: ARG001
    """A table with its keys, indexes, entities and fields."""
    return await desk.figures.one(name)


@get("/tables/{name:str}/items", summary="Items of a table")
async def list_items(
    admin: Admin,  # noqa: ARG001
    desk: TheDesk,
    name: TableName,
    index: Text = None,
    pk: Text = None,
    op: FromQuery[KeyCondition | None] = None,
    sk: Text = None,
    sk2: Text = None,
    newest: FromQuery[bool] = False,
    limit: Items = 25,
    after: After = None,
) -> ItemPage:
    """A partition by its key, narrowed by sort key; without `pk` a page of everything. Secrets are masked."""
    wanted = Wanted(index=index, pk=pk, op=op, sk=sk, sk2=sk2, newest=newest, limit=limit, after=after)
    return await browse(desk.store, desk.figures.table(name), wanted)


HANDLERS = (show_overview, show_history, list_tables, show_table, list_items)
