"""Every request from an address counts against its rate limit."""

import pytest

from tests.server.conftest import ExhaustRateLimit, MakeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_every_request_counts_against_the_limit_of_its_address(
    make_client: MakeClient, exhaust_rate_limit: ExhaustRateLimit
) -> None:
    exhaust_rate_limit("read_address", "198.51.100.8")
    crowd = make_client("198.51.100.8")
    for path in ("/nowhere", "/api/me", "/metrics"):
        refused = await crowd.get(path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_requests"), path
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.headers["x-content-type-options"] == "nosniff"
        assert refused.headers["x-request-id"]
    # A crowd that opens a page needs all of its files, and browsers also request missing ones.
    assert (await crowd.get("/assets/main-1.js")).status_code == 200
    for path, status in (("/favicon.svg", 200), ("/robots.txt", 200), ("/favicon.ico", 404)):
        assert (await crowd.get(path)).status_code == status
