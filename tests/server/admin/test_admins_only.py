"""Nobody but an admin in a browser learns or changes anything, whatever they ask for."""

import re

import pytest

from tests.server.admin.conftest import House
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
async def test_everything_is_forbidden_to_all_others(house: House, caller: str) -> None:
    house.http.headers["caller"] = caller
    told = {(method, path): await house.refusal(method, path) for method, path in ASKED}
    assert told == dict.fromkeys(ASKED, (403, "forbidden"))


async def test_not_even_what_is_wrong_with_a_request_is_told(house: House) -> None:
    house.http.headers["caller"] = "user"
    assert await house.refusal("GET", "history?minutes=soon") == (403, "forbidden")
    assert await house.refusal("GET", "tables/Nothing/items?limit=0") == (403, "forbidden")
    assert await house.refusal("POST", "jobs/retry", json={"system": "nobody"}) == (403, "forbidden")
    assert await house.refusal("DELETE", "backups/..") == (404, "not_found")
    assert await house.refusal("DELETE", "backups/-") == (403, "forbidden")


async def test_there_are_as_many_routes_as_the_page_needs(house: House) -> None:
    assert len(ASKED) == len(HANDLERS) == 19


async def test_an_admin_is_let_in(house: House) -> None:
    assert (await house.get("overview"))["version"]
