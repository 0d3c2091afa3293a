"""Nobody but an admin in a browser learns or changes anything, whatever they ask for."""

import re

import pytest

from tests.server.admin.conftest import AdminApp
from zataku.server.admin.routes import HANDLERS

SOMEBODY = "00000000-0000-4000-a000-000000000001"
PARTS = {"name": "nothing.db", "account_id": SOMEBODY, "session": "f" * 64}
ASKED = [
    (method, re.sub(r"\{(\w+):str\}", lambda part: PARTS[part[1]], path.lstrip("/")))
    for handler in HANDLERS
    for path in handler.paths
    for method in sorted(handler.http_methods)
    if method != "OPTIONS"
]


@pytest.mark.parametrize("caller", ["user", "guest", "key"])
async def test_everything_is_forbidden_to_all_others(admin_app: AdminApp, caller: str) -> None:
    admin_app.http.headers["caller"] = caller
    told = {(method, path): await admin_app.refusal(method, path) for method, path in ASKED}
    assert told == dict.fromkeys(ASKED, (403, "forbidden"))


async def test_not_even_what_is_wrong_with_a_request_is_told(admin_app: AdminApp) -> None:
    admin_app.http.headers["caller"] = "user"
    assert await admin_app.refusal("GET", "history?minutes=soon") == (403, "forbidden")
    assert await admin_app.refusal("GET", "tables/Nothing/items?limit=0") == (403, "forbidden")
    assert await admin_app.refusal("POST", "jobs/retry", json={"system": "nobody"}) == (403, "forbidden")
    assert await admin_app.refusal("DELETE", "backups/..") == (404, "not_found")
    assert await admin_app.refusal("DELETE", "backups/-") == (403, "forbidden")


async def test_there_are_as_many_routes_as_the_page_needs(admin_app: AdminApp) -> None:
    assert len(ASKED) == len(HANDLERS) == 19


async def test_an_admin_is_let_in(admin_app: AdminApp) -> None:
    assert (await admin_app.get("overview"))["version"]
