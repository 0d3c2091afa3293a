"""A sixth system, plugged in by one entry of a list, gets everything that the server derives from a system."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from msgspec import Raw
from msgspec.structs import replace

from tests.realtime.sockets.memory_connection import MemoryConnection
from tests.server.conftest import PUBLIC, MakeClient, create_key, sign_up
from tests.server.sixth_system.system import DEMO_OWNER, SYSTEM, Read, quotes_of, recorded
from zataku.clock import AdvanceableClock, now_ms
from zataku.errors import Forbidden
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import CommandMessage, Join
from zataku.server.app import Application, open_application
from zataku.server.pages.languages import LANGUAGES
from zataku.server.settings import Settings
from zataku.server.systems import SYSTEMS
from zataku.server.typescript.generate import current_types

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEADLINE = 10.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def application(tmp_path_factory: pytest.TempPathFactory, web: Path) -> AsyncIterator[Application]:
    """The server with all of its systems and one more."""
    settings = Settings(data=str(tmp_path_factory.mktemp("data")), env="test", metrics_token="prometheus")
    loopback = "http://127.0.0.1:8000"
    async with open_application(
        settings, public_url=PUBLIC, loopback=loopback, web_folder=web, systems=(*SYSTEMS, SYSTEM)
    ) as opened:
        yield opened


async def test_the_routes_store_and_read(browser: httpx.AsyncClient) -> None:
    created = await browser.post("/api/quotes", json={"text": "Less is more."})
    assert created.status_code == 201, created.text
    assert (await browser.get("/api/quotes")).json() == [{"text": "Less is more."}]


async def test_the_pages_have_a_title_in_every_language(make_client: MakeClient) -> None:
    pages = [(await make_client().get(f"/quotes?lang={language}")).text for language in LANGUAGES]
    for title, page in zip(("名言 – 座卓", "명언 – 자타쿠", "Quotes – Zataku"), pages, strict=True):
        assert f"<title>{title}</title>" in page
    assert "<title>Quote 17 – Zataku</title>" in (await make_client().get("/quotes/17?lang=en")).text


async def test_a_key_needs_the_scopes_of_the_system(browser: httpx.AsyncClient, make_client: MakeClient) -> None:
    await sign_up(browser, "Quoter")
    keys = {}
    for scope in ("quotes:read", "quotes:write", "live:read"):
        created = await create_key(browser, scope)
        assert created.status_code == 201, created.text
        keys[scope] = make_client(authorization=f"Bearer {created.json()['key']}")
    assert (await keys["quotes:read"].get("/api/quotes")).status_code == 200
    assert (await keys["quotes:write"].post("/api/quotes", json={"text": "x"})).status_code == 201
    for refused in (
        await keys["quotes:read"].post("/api/quotes", json={"text": "x"}),
        await keys["quotes:write"].get("/api/quotes"),
        await keys["live:read"].get("/api/quotes"),
    ):
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_missing")
    unknown = await create_key(browser, "chess:read")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "invalid")


async def test_the_card_is_on_the_home_page(browser: httpx.AsyncClient) -> None:
    await browser.post("/api/quotes", json={"text": "Less is more."})
    home = (await browser.get("/api/home")).json()
    assert list(home) == [*(system.name for system in SYSTEMS), "quotes"]
    assert home["quotes"] == {"count": 1}


async def test_the_operations_are_documented_under_the_tag_of_the_system(make_client: MakeClient) -> None:
    document = (await make_client().get("/openapi.json")).json()
    assert {"name": "quotes", "description": "Sentences worth keeping"} in document["tags"]
    operation = document["paths"]["/api/quotes"]["post"]
    assert (operation["tags"], operation["operationId"]) == (["quotes"], "quotesKeepQuote")
    assert "quotes" in document["components"]["schemas"]["HomeState"]["properties"]


async def test_requests_tables_and_rooms_are_measured(
    application: Application, browser: httpx.AsyncClient, make_client: MakeClient
) -> None:
    rooms = application.services.context.rooms
    await browser.get("/api/quotes")
    await rooms.execute("quotes/board", Identity(account_id=AccountId("a"), role="user", language="en"), Read())
    metrics = (await make_client(authorization="Bearer prometheus").get("/metrics")).text
    assert 'zataku_requests_total{method="GET",route="/api/quotes",status="200"}' in metrics
    assert "SixthQuotes" in metrics
    assert f"zataku_rooms_running {float(len(rooms.running('quotes')) + len(rooms.running('live')))}\n" in metrics
    assert len(rooms.running("quotes")) == 1


async def test_the_room_takes_commands_and_needs_the_scopes_of_the_system(application: Application) -> None:
    realtime = application.services.realtime
    reader = Identity(account_id=AccountId("a"), role="user", language="en", scopes=frozenset({"quotes:read"}))
    writer = replace(reader, scopes=frozenset({"quotes:write"}))
    join, read = Join(id=1, to="quotes/board"), CommandMessage(id=2, to="quotes/board", what=Raw(b'{"k":"read"}'))
    sockets = [realtime.hub.open(MemoryConnection(), identity, "198.51.100.1") for identity in (reader, writer)]
    await realtime.router.join(sockets[0], join)
    await realtime.router.execute(sockets[1], read)
    assert application.services.context.rooms.running("quotes").keys() == {"quotes/board"}
    for refused in (realtime.router.join(sockets[1], join), realtime.router.execute(sockets[0], read)):
        with pytest.raises(Forbidden) as error:
            await refused
        assert error.value.code == "scope_missing"
    for socket in sockets:
        realtime.router.disconnected(socket)
        realtime.hub.forget(socket)


async def test_jobs_and_stream_consumers_run(application: Application) -> None:
    context = application.services.context
    assert isinstance(context.clock, AdvanceableClock)
    await context.schedule.add(now_ms(context.clock), "quotes", "remind", "17")
    async with asyncio.timeout(DEADLINE):
        while not {"remind 17", "INSERT of a quote"} <= set(recorded):
            await context.clock.advance(1)
    assert recorded[0] == "lifespan began"


async def test_the_demo_is_filled(application: Application) -> None:
    store = application.services.context.store
    async with asyncio.timeout(DEADLINE):
        while not [quote async for quote in store.each(quotes_of(DEMO_OWNER))]:
            await asyncio.sleep(0)


async def test_a_removed_account_leaves_nothing_in_the_system(
    application: Application, browser: httpx.AsyncClient
) -> None:
    await browser.post("/api/quotes", json={"text": "Gone tomorrow."})
    account_id = AccountId((await browser.get("/api/me")).json()["accountId"])
    context = application.services.context
    await browser.request("DELETE", "/api/me", json={})
    assert isinstance(context.clock, AdvanceableClock)
    async with asyncio.timeout(DEADLINE):
        while [quote async for quote in context.store.each(quotes_of(account_id))]:
            await context.clock.advance(1)


async def test_the_web_pages_get_the_entry_of_the_system() -> None:
    types = await current_types((*SYSTEMS, SYSTEM))
    names = " | ".join(f'"{system.name}"' for system in (*SYSTEMS, SYSTEM))
    assert f"export type SystemName = {names};" in types
    assert '{"path": "/quotes/:quoteId", "component": "quotes", "isRoom": true}' in types
    assert '"scopes": ["quotes:read", "quotes:write"]' in types
    assert "  quotes: QuotesHome | null;" in types
    assert "export interface QuotesNewQuote {" in types
