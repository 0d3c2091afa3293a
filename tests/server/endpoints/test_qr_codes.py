"""QR codes of the server's own pages."""

import pytest

from tests.server.conftest import ExhaustRateLimit, MakeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_qr_code_leads_to_pages_of_this_server_only(make_client: MakeClient) -> None:
    response = await make_client().get("/qr.svg", params={"path": "/live/13a59d2d"})
    assert response.headers["content-type"].startswith("image/svg+xml")
    assert "#fff" in response.text.lower()
    for path in ("https://evil.example.org", "//evil.example.org", "/live/../x", "/x?y=1", "live", "/" + "x" * 300):
        assert (await make_client().get("/qr.svg", params={"path": path})).status_code == 400, path
    assert (await make_client().get("/qr.svg")).json()["error"]["code"] == "invalid"


async def test_only_new_qr_codes_count_against_the_rate_limit(
    make_client: MakeClient, exhaust_rate_limit: ExhaustRateLimit
) -> None:
    crowd = make_client("198.51.100.60")
    assert (await make_client().get("/qr.svg", params={"path": "/live/hall"})).status_code == 200
    exhaust_rate_limit("code_address", "198.51.100.60")
    assert (await crowd.get("/qr.svg", params={"path": "/live/other"})).status_code == 429
    assert (await crowd.get("/qr.svg", params={"path": "/live/hall"})).status_code == 200
