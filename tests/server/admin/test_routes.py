"""Only an admin in a browser may call the admin routes."""

import re

import pytest

from tests.server.admin.conftest import AdminApp
from zataku.server.admin.routes import HANDLERS

PARAMETERS = {
    "name": "nothing.db",
    "account_id": "00000000-0000-4000-a000-000000000001",
    "session": "f" * 64,
}
REQUESTS = [
    (method, re.sub(r"\{(\w+):str\}", lambda match: PARAMETERS[match[1]], path.lstrip("/")))
    for handler in HANDLERS
    for path in handler.paths
    for method in sorted(handler.http_methods)
    if method != "OPTIONS"
]


@pytest.mark.parametrize("caller", ["user", "guest", "key"])
async def test_every_route_is_forbidden_to_other_callers(admin_app: AdminApp, caller: str) -> None:
    admin_app.http.headers["caller"] = caller
    refusals = {(method, path): await admin_app.refusal(method, path) for method, path in REQUESTS}
    assert refusals == dict.fromkeys(REQUESTS, (403, "forbidden"))


async def test_other_callers_are_refused_before_their_request_is_validated(admin_app: AdminApp) -> None:
    admin_app.http.headers["caller"] = "user"
    assert await admin_app.refusal("GET", "history?minutes=soon") == (403, "forbidden")
    assert await admin_app.refusal("GET", "tables/Nothing/items?limit=0") == (403, "forbidden")
    assert await admin_app.refusal("POST", "jobs/retry", json={"system": "nobody"}) == (403, "forbidden")
    assert await admin_app.refusal("DELETE", "backups/..") == (404, "not_found")
    assert await admin_app.refusal("DELETE", "backups/-") == (403, "forbidden")


async def test_the_admin_page_has_19_routes(admin_app: AdminApp) -> None:
    assert len(REQUESTS) == len(HANDLERS) == 19


async def test_an_admin_is_admitted(admin_app: AdminApp) -> None:
    assert (await admin_app.get("overview"))["version"]
