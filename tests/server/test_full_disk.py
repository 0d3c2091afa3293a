"""A server whose disk is full says so in every answer, and continues when there is space again."""

from typing import Any

import httpx
import pytest

from tests.server.conftest import PUBLIC, MakeClient
from zataku.errors import STORAGE_FULL
from zataku.server.app import Application

pytestmark = pytest.mark.asyncio(loop_scope="module")
LARGE = "満" * 500
ENOUGH_TO_FILL = 40


async def fill(client: httpx.AsyncClient, address: str, body: dict[str, Any]) -> httpx.Response:
    """The first answer that is not a success."""
    for _ in range(ENOUGH_TO_FILL):
        response = await client.post(address, json=body)
        if response.status_code != 201:
            return response
    raise AssertionError("The disk did not get full.")


async def test_a_full_disk_is_named_in_the_answer_and_nothing_is_lost(
    make_client: MakeClient, application: Application
) -> None:
    host = make_client("192.0.2.1", origin=PUBLIC)
    room = (await host.post("/api/live/rooms", json={"name": "Full"})).json()["roomId"]
    comments, comment = f"/api/live/rooms/{room}/comments", {"k": "comment", "content": LARGE}
    assert (await host.post(comments, json=comment)).status_code == 201
    connection: Any = application.services.context.store.backend._engine.database.connection  # type: ignore[attr-defined]
    connection.pragma("max_page_count", connection.pragma("page_count"))
    try:
        refused = await fill(host, "/api/live/rooms", {"name": "満" * 100})
        assert (refused.status_code, refused.json()["error"]["code"]) == (507, "store_full")
        assert refused.json()["error"]["message"] == STORAGE_FULL
        # A room that runs refuses a command alike, and does not leave open whether it was stored.
        for number in range(ENOUGH_TO_FILL):
            guest = make_client(f"198.51.100.{number}", origin=PUBLIC)
            refused = await guest.post(comments, json=comment)
            if refused.status_code != 201:
                break
        assert (refused.status_code, refused.json()["error"]["code"]) == (507, "store_full")
        assert (await host.get(f"/api/live/rooms/{room}")).status_code == 200
    finally:
        connection.pragma("max_page_count", 1_000_000)
    again = make_client("192.0.2.2", origin=PUBLIC)
    assert (await again.post(comments, json=comment)).status_code == 201
