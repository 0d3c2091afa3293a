"""The home page has a card of every system, and is notified of changes."""

import asyncio

import httpx
import pytest

from zataku.clock import AdvanceableClock
from zataku.realtime.topics import Topics
from zataku.server.app import Application
from zataku.server.endpoints.home import CHECK_INTERVAL

pytestmark = pytest.mark.asyncio(loop_scope="module")


DEADLINE = 10.0


async def test_the_home_page_has_a_card_of_every_system(browser: httpx.AsyncClient) -> None:
    cards = (await browser.get("/api/home")).json()
    assert list(cards) == ["drawing", "othello", "ranking", "live", "kifu"]
    assert cards["live"]["rooms"] >= 0


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
