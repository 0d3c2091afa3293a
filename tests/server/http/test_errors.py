"""Every error has one JSON shape, and one HTML page for browsers."""

from collections.abc import Iterator
from typing import Annotated, Any

import httpx
import msgspec
import pytest
import pytest_asyncio
import structlog
from litestar import Litestar, get, post
from litestar.datastructures import State
from litestar.exceptions import HTTPException, NotAuthorizedException, ServiceUnavailableException
from litestar.params import FromPath, JSONBody, QueryParameter

from tests.server.conftest import MakeClient
from tests.support.manual_clock import ManualClock
from zataku.accounts.rate_limits import RateLimits
from zataku.errors import Conflict, RateLimited, Unauthorized
from zataku.server.http.compression import Compression
from zataku.server.http.errors import HANDLERS
from zataku.server.http.request_context import RequestContextReader
from zataku.server.http.request_log import RequestLog
from zataku.server.http.security_headers import add_security_headers
from zataku.server.metrics import Metrics
from zataku.server.pages.page_routes import PageAssets
from zataku.server.pages.web_build import WebBuild
from zataku.table import BadCursor, BadInput, ConditionFailed, ResultUnknown, StoreFull, Throttled

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Seat(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    names: list[Annotated[str, msgspec.Meta(max_length=3)]] = []


@pytest.fixture(autouse=True)
def plain_log() -> Iterator[None]:
    """Plain log lines, as the server writes them; formatting a coloured traceback is slow."""
    plain = [structlog.contextvars.merge_contextvars, structlog.processors.format_exc_info]
    structlog.configure(processors=[*plain, structlog.processors.LogfmtRenderer()])
    yield
    structlog.reset_defaults()


RAISED: dict[str, Exception] = {
    "broken": RuntimeError("a secret"),
    "closed": ServiceUnavailableException("a secret"),
    "full": HTTPException("no", status_code=409, extra={"seats": 4}),
    "private": NotAuthorizedException(headers={"WWW-Authenticate": "Bearer"}),
    "taken": Conflict("The seat is taken. Choose another.", code="seat_taken", seat=3),
    "often": RateLimited("Too often.", retry_after=2.4),
    "stranger": Unauthorized("Sign in first."),
    "cursor": BadCursor("VoteBoardGame, GSI1PK"),
    "overtaken": ConditionFailed("GAME#secret"),
    "unknown": ResultUnknown("GAME#secret"),
    "busy": Throttled("GAME#secret"),
    "disk": StoreFull("/var/secret"),
    "fault": BadInput("GAME#secret"),
}


@get("/api/raise/{name:str}")
async def raise_error(name: FromPath[str]) -> None:
    raise RAISED[name]


@get("/page/{name:str}")
async def break_page(name: FromPath[str]) -> None:
    raise RAISED[name]


@get("/api/seat")
async def seat(number: Annotated[int, QueryParameter(ge=1)]) -> int:
    return number


@post("/api/seat")
async def take_seat(data: JSONBody[Seat]) -> int:
    return data.number


@post("/api/decode")
async def decode_file(data: JSONBody[Seat]) -> str:
    return b"\xff\xfe of a file".decode() * data.number


@pytest_asyncio.fixture(loop_scope="module")
async def client() -> Any:
    app = Litestar(
        [raise_error, seat, take_seat, decode_file, break_page],
        exception_handlers=HANDLERS,
        before_send=[add_security_headers],
        openapi_config=None,
        logging_config=None,
        request_max_body_size=1000,
        state=State({"page_assets": PageAssets(WebBuild(), "http://127.0.0.1")}),
    )
    logged_app: Any = RequestLog(Compression(app), RequestContextReader(()), RateLimits(ManualClock(0.0)), Metrics())  # type: ignore[arg-type]
    transport = httpx.ASGITransport(app=logged_app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("full", 409, "conflict"),
        ("taken", 409, "seat_taken"),
        ("often", 429, "too_many_requests"),
        ("stranger", 401, "unauthorized"),
        ("cursor", 400, "bad_cursor"),
        ("overtaken", 409, "conflict"),
        ("unknown", 503, "unsettled"),
        ("busy", 503, "unavailable"),
        ("disk", 507, "store_full"),
        ("fault", 500, "internal"),
        ("broken", 500, "internal"),
        ("closed", 503, "unavailable"),
    ],
)
async def test_every_error_has_one_shape(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str], name: str, status: int, code: str
) -> None:
    response = await client.get(f"/api/raise/{name}")
    assert response.status_code == status
    assert response.json().keys() == {"error"}
    assert response.json()["error"].keys() == {"code", "message", "details"}
    assert response.json()["error"]["code"] == code
    assert "secret" not in response.text
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_failure_answers_with_a_reference_and_logs_its_cause(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    response = await client.get("/api/raise/broken", headers={"X-Request-Id": "from-the-proxy-1"})
    assert response.json()["error"]["details"] == {"reference": "from-the-proxy-1"}
    assert response.headers["x-request-id"] == "from-the-proxy-1"
    logged = "".join(capsys.readouterr())
    assert "from-the-proxy-1" in logged
    assert "a secret" in logged


@pytest.mark.parametrize("request_id", ["short", "with space in it", "x" * 65, "new\tline-is-here", ""])
async def test_an_invalid_request_id_is_replaced(client: httpx.AsyncClient, request_id: str) -> None:
    response = await client.get("/api/seat?number=1", headers={"X-Request-Id": request_id})
    assert len(response.headers["x-request-id"]) == 32


async def test_a_validation_error_names_the_place_of_the_value(client: httpx.AsyncClient) -> None:
    invalid_query = await client.get("/api/seat?number=0")
    assert invalid_query.json()["error"]["code"] == "invalid"
    assert invalid_query.json()["error"]["details"]["problems"][0]["key"] == "number"
    invalid_body = await client.post("/api/seat", json={"number": 1, "names": ["ok", "too long"]})
    assert invalid_body.status_code == 400
    problems = invalid_body.json()["error"]["details"]["problems"]
    assert problems == [{"message": "Expected `str` of length <= 3", "key": "names[1]", "source": "body"}]
    unknown = await client.post("/api/seat", json={"number": 1, "colour": "red"})
    assert "colour" in unknown.text


async def test_a_body_that_is_not_json_or_too_large_is_refused(client: httpx.AsyncClient) -> None:
    broken = await client.post("/api/seat", content=b'{"number": ', headers={"content-type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "bad_request")
    large = await client.post("/api/seat", json={"number": 1, "names": ["x" * 2000]})
    assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")


async def test_a_client_that_leaves_within_its_body_is_no_fault_of_the_server(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    events = iter(({"type": "http.request", "body": b'{"num', "more_body": True}, {"type": "http.disconnect"}))
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return next(events)

    async def send(message: Any) -> None:
        sent.append(message)

    assert isinstance(client._transport, httpx.ASGITransport)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"20")]
    scope = {"type": "http", "method": "POST", "path": "/api/seat", "raw_path": b"/api/seat", "query_string": b""}
    scope |= {"headers": headers, "scheme": "http", "http_version": "1.1", "root_path": "", "client": ("127.0.0.1", 1)}
    await client._transport.app(scope, receive, send)
    assert sent[0]["status"] == 400
    assert "request_failed" not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "body",
    [
        b'{"number": 1, "names": ["\xff"]}',
        b'{"number": 1, "names": ["\xed\xa0\x80"]}',
        b'{"number": 1, "names": ["\xf4\x90\x80\x80 behind \\u00e9scapes"]}',
        b'{"\xfe": 1}',
        b"\xff",
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-16", "text/plain"])
async def test_a_body_that_is_not_utf8_is_a_bad_request(
    client: httpx.AsyncClient, body: bytes, content_type: str
) -> None:
    response = await client.post("/api/seat", content=body, headers={"content-type": content_type})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad_request")


async def test_text_that_the_server_cannot_decode_is_its_own_fault(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/decode", json={"number": 1})
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal")


async def test_an_invalid_host_header_does_not_break_the_answer(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/raise/broken", headers={"host": "127.0.0.1:99999999"})
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal")
    assert response.headers["x-request-id"]


async def test_an_error_keeps_its_details_and_headers(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/raise/full")).json()["error"]["details"] == {"seats": 4}
    assert (await client.get("/api/raise/private")).headers["www-authenticate"] == "Bearer"
    assert (await client.get("/api/raise/often")).headers["retry-after"] == "3"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/api/nowhere", 404, "not_found"),
        ("PUT", "/api/me", 405, "method_not_allowed"),
        ("GET", "/static/nowhere.css", 404, "not_found"),
        ("GET", "/static/../app.py", 404, "not_found"),
        ("GET", "/assets/%2e%2e%2fapp.py", 404, "not_found"),
        ("GET", "/assets/.vite", 404, "not_found"),
    ],
)
async def test_an_unknown_path_or_method_is_a_json_error(
    make_client: MakeClient, method: str, path: str, status: int, code: str
) -> None:
    response = await make_client().request(method, path)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    if status == 405:
        assert set(response.headers["allow"].split(", ")) >= {"GET", "PATCH", "DELETE"}


async def test_a_browser_gets_an_error_page_in_its_language_without_scripts(browser: httpx.AsyncClient) -> None:
    response = await browser.get("/nowhere")
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("text/html")
    fallback = response.text.split("<noscript>")[1]
    assert "ページが見つかりません。" in fallback
    assert 'href="/"' in fallback


async def test_under_api_a_browser_gets_json_too(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/api/nowhere")).json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "image/png", "nonsense", "", "text/html;q=inf", "*/*;q=-9e999"]
)
async def test_only_a_browser_gets_a_page(make_client: MakeClient, accept: str) -> None:
    assert (await make_client(accept=accept).get("/nowhere")).json()["error"]["code"] == "not_found"


async def test_an_error_page_shows_its_reference(client: httpx.AsyncClient) -> None:
    response = await client.get("/page/broken", headers={"accept": "text/html", "accept-language": "ko"})
    assert response.status_code == 500
    assert f"문의 번호 {response.headers['x-request-id']}" in response.text
    assert "<script" not in response.text
    assert "secret" not in response.text
