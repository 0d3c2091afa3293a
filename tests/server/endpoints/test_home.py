"""The home page has a card of every system, and is told of changes."""

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
    shown = (await browser.get("/api/home")).json()
    assert list(shown) == ["drawing", "othello", "ranking", "live", "kifu"]
    assert shown["live"]["rooms"] >= 0


async def test_the_home_page_is_told_when_a_room_starts(
    browser: httpx.AsyncClient, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = asyncio.Event()
    services = application.services
    assert isinstance(services.context.clock, AdvanceableClock)
    monkeypatch.setattr(Topics, "publish", lambda _, topic, event: told.set() if topic == "home" else None)
    room = (await browser.post("/api/live/rooms", json={"name": "News"})).json()["roomId"]
    said = await browser.post(f"/api/live/rooms/{room}/comments", json={"content": "hello"})
    assert said.status_code == 201, said.text
    async with asyncio.timeout(DEADLINE):
        while not told.is_set():
            await services.context.clock.advance(CHECK_INTERVAL)
