"""The home page has a card of every system that the caller may read, and is notified of changes."""

import asyncio

import httpx
import pytest

from tests.server.conftest import MakeClient, create_key, sign_up
from zataku.clock import AdvanceableClock
from zataku.realtime.topics import Topics
from zataku.server.app import Application
from zataku.server.endpoints.home import CHECK_INTERVAL
from zataku.server.systems import SYSTEMS

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEADLINE = 10.0


async def test_the_home_page_has_a_card_of_every_system(browser: httpx.AsyncClient) -> None:
    cards = (await browser.get("/api/home")).json()
    assert list(cards) == [system.name for system in SYSTEMS]
    assert None not in cards.values()
    assert cards["live"]["rooms"] >= 0


async def test_an_api_key_gets_the_cards_of_the_systems_that_it_may_read(
    browser: httpx.AsyncClient, make_client: MakeClient
) -> None:
    await sign_up(browser, "Reader")
    for scopes, names in (((), set()), (("live:read", "kifu:write"), {"live"}), (("kifu:read",), {"kifu"})):
        key = (await create_key(browser, *scopes)).json()["key"]
        cards = (await make_client(authorization=f"Bearer {key}").get("/api/home")).json()
        assert {name for name, card in cards.items() if card is not None} == names


async def test_the_home_page_is_notified_when_a_room_starts(
    browser: httpx.AsyncClient, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    notified = asyncio.Event()
    services = application.services
    assert isinstance(services.context.clock, AdvanceableClock)
    monkeypatch.setattr(Topics, "publish", lambda _, topic, event: notified.set() if topic == "home" else None)
    room = (await browser.post("/api/live/rooms", json={"name": "News"})).json()["roomId"]
    posted = await browser.post(f"/api/live/rooms/{room}/comments", json={"content": "hello"})
    assert posted.status_code == 201, posted.text
    async with asyncio.timeout(DEADLINE):
        while not notified.is_set():
            await services.context.clock.advance(CHECK_INTERVAL)
