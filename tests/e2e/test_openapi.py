"""Requests generated from the OpenAPI document, valid and invalid, as a guest and as an admin: never a 5xx."""

from collections import Counter
from collections.abc import Iterator
from itertools import count

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode

from tests.e2e.server_process import ServerProcess, start_embedded_server

GENERATION = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# Operations that would end the session of the test are called as a guest only.
ENDS_SESSION = {"/api/sessions", "/api/sessions/current", "/api/sessions/{session_id}", "/api/me", "/api/me/password"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that gets every request. Its clock is advanced, so that rate limits refuse nothing."""
    server = start_embedded_server(tmp_path_factory.mktemp("openapi"))
    yield server
    server.close()


def as_admin(server: ServerProcess) -> dict[str, str]:
    """The headers of a signed-in admin."""
    with httpx.Client(base_url=server.url, headers={"Origin": server.url}) as client:
        created = client.post("/api/accounts", json={"name": "mato", "password": "correct horse battery"})
        assert created.status_code == 201, created.text
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    server.grant_admin("mato")
    return {"Origin": server.url, "Cookie": cookie}


@pytest.mark.parametrize("caller", ["guest", "admin"])
def test_no_request_makes_the_server_fail(server: ServerProcess, caller: str) -> None:
    server.advance_clock(60)
    headers = {"Origin": server.url} if caller == "guest" else as_admin(server)
    document = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    document.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    room = httpx.post(f"{server.url}/api/live/rooms", headers=headers, json={"name": "Anything"}).json()["roomId"]
    calls = count()
    failures: list[str] = []
    statuses: Counter[int] = Counter()
    tried = 0
    for result in document.get_all_operations():
        operation = result.ok()
        if caller == "admin" and operation.path in ENDS_SESSION:
            continue
        tried += 1
        server.advance_clock(60)

        @GENERATION
        @given(case=operation.as_strategy())
        def call(case: Case) -> None:
            if "room_id" in case.path_parameters and next(calls) % 2:
                # A generated id never names a room.
                case.path_parameters["room_id"] = room
            response = case.call(headers=headers)
            statuses[response.status_code] += 1
            if response.status_code >= 500:
                failures.append(f"{case.method} {case.formatted_path}: {response.status_code} {response.text[:300]}")

        call()
    assert tried > 15
    assert failures == []
    # Most requests reached the handlers: some succeeded, and hardly any were rate limited.
    assert statuses[429] < 0.05 * statuses.total()
    assert sum(number for status, number in statuses.items() if status < 300) > 0.1 * statuses.total()
    assert "Traceback" not in server.stderr_text()
