"""The metrics that Prometheus reads, and who may read them."""

from typing import Any, cast

import httpx
import pytest
from litestar import Litestar

from tests.server.conftest import MakeClient
from zataku.server.app import Application
from zataku.server.endpoints.metrics_route import metrics_route
from zataku.server.http.asgi import App
from zataku.server.http.errors import HANDLERS
from zataku.server.http.request_context import RequestContextReader
from zataku.server.http.request_log import RequestLog
from zataku.server.metrics import Metrics

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_metrics_are_for_this_machine_and_the_token_only(make_client: MakeClient) -> None:
    await make_client().get("/api/me")
    local = await make_client("127.0.0.1", base="http://127.0.0.1:8000").get("/metrics")
    assert local.status_code == 200
    assert local.headers["content-type"].count("charset") == 1
    for metric in (
        'zataku_requests_total{method="GET",route="/api/me",status="200"}',
        "zataku_request_seconds_bucket",
        'zataku_table_calls_total{pattern="Zataku-Platform.',
        "zataku_sockets_open 0.0",
        "zataku_rooms_running",
        "zataku_jobs_runs_total",
        "zataku_loop_lag_seconds_bucket",
        "process_resident_memory_bytes",
    ):
        assert metric in local.text, metric
    assert (await make_client(authorization="Bearer prometheus").get("/metrics")).status_code == 200
    for stranger in (
        make_client(),
        make_client(authorization="Bearer guessed"),
        make_client("127.0.0.1", **{"x-forwarded-for": "8.8.8.8"}),
    ):
        assert (await stranger.get("/metrics")).json()["error"]["code"] == "forbidden"


async def test_an_unknown_method_or_path_adds_no_series(make_client: MakeClient, application: Application) -> None:
    for number in range(3):
        await make_client().request(f"BREW{number}", f"/coffee/{number}")
    exported = (await make_client(authorization="Bearer prometheus").get("/metrics")).text
    assert "coffee" not in exported
    assert "BREW" not in exported
    assert 'method="other",route="unknown"' in exported


async def test_on_a_public_server_no_request_counts_as_local(application: Application) -> None:
    authenticator, metrics = application.services.accounts.authenticator, Metrics()
    for is_public, status in ((False, 200), (True, 403)):
        route = metrics_route(metrics, authenticator, "", is_public=is_public)
        app = Litestar([route], exception_handlers=HANDLERS, logging_config=None, openapi_config=None)
        logged_app: Any = RequestLog(
            cast("App", app), RequestContextReader(()), application.services.accounts.rate_limits, metrics
        )
        transport = httpx.ASGITransport(app=logged_app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as silent_proxy:
            assert (await silent_proxy.get("/metrics")).status_code == status
