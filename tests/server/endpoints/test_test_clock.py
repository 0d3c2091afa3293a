"""The clock of a test server is advanced from its own machine only."""

import pytest

from tests.server.conftest import MakeClient
from zataku.server.app import Application

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_clock_is_advanced_from_this_machine_only(make_client: MakeClient, application: Application) -> None:
    local = make_client("127.0.0.1", base="http://127.0.0.1:8000")
    before = application.services.context.clock.now()
    response = await local.post("/test/clock", json={"advance": 3600})
    assert response.status_code == 200
    assert application.services.context.clock.now() - before >= 3600
    assert (await make_client().post("/test/clock", json={"advance": 1})).status_code == 403
    for invalid in ({"advance": -1}, {"advance": "soon"}, {}, {"advance": 1, "more": 2}):
        assert (await local.post("/test/clock", json=invalid)).status_code == 400


async def test_no_page_can_advance_the_clock(make_client: MakeClient) -> None:
    local = make_client("127.0.0.1", base="http://127.0.0.1:8000")
    for header in ({"origin": "https://evil.example.org"}, {"sec-fetch-site": "cross-site"}):
        assert (await local.post("/test/clock", json={"advance": 1}, headers=header)).status_code == 403
