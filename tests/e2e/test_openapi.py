"""Requests made up from the OpenAPI document, good and bad ones, as anybody and as an admin: never a 5xx."""

from collections import Counter
from collections.abc import Iterator
from itertools import count

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode

from tests.e2e.server_process import ServerProcess, on_disk

QUICKLY = settings(
    max_examples=7,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# What would end the very session that asks is tried as a guest only.
ENDS_SESSION = {"/api/sessions", "/api/sessions/current", "/api/sessions/{session_id}", "/api/me", "/api/me/password"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that is asked anything. Its clock is pushed, so that limits of rate refuse nothing."""
    house = on_disk(tmp_path_factory.mktemp("asked"))
    yield house
    house.close()


def as_admin(house: ServerProcess) -> dict[str, str]:
    """The headers of a signed-in admin."""
    with httpx.Client(base_url=house.url, headers={"Origin": house.url}) as client:
        made = client.post("/api/accounts", json={"name": "mato", "password": "correct horse battery"})
        assert made.status_code == 201, made.text
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    house.grant_admin("mato")
    return {"Origin": house.url, "Cookie": cookie}


@pytest.mark.parametrize("who", ["guest", "admin"])
def test_no_request_makes_the_server_fail(asked: ServerProcess, who: str) -> None:
    asked.push_clock(60)
    headers = {"Origin": asked.url} if who == "guest" else as_admin(asked)
    document = schemathesis.openapi.from_url(f"{asked.url}/openapi.json")
    document.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    room = httpx.post(f"{asked.url}/api/live/rooms", headers=headers, json={"name": "Anything"}).json()["roomId"]
    turns = count()
    failures: list[str] = []
    statuses: Counter[int] = Counter()
    tried = 0
    for found in document.get_all_operations():
        operation = found.ok()
        if who == "admin" and operation.path in ENDS_SESSION:
            continue
        tried += 1
        asked.push_clock(60)

        @QUICKLY
        @given(case=operation.as_strategy())
        def ask(case: Case) -> None:
            if "room_id" in case.path_parameters and next(turns) % 2:
                # Nobody comes upon a room by chance.
                case.path_parameters["room_id"] = room
            answer = case.call(headers=headers)
            statuses[answer.status_code] += 1
            if answer.status_code >= 500:
                failures.append(f"{case.method} {case.formatted_path}: {answer.status_code} {answer.text[:300]}")

        ask()
    assert tried > 15
    assert failures == []
    # Most of it got as far as the handlers: some of it was right, some wrong, hardly any too often.
    assert statuses[429] < 0.05 * statuses.total()
    assert sum(number for status, number in statuses.items() if status < 300) > 0.1 * statuses.total()
    assert "Traceback" not in asked.said()
