"""Every error has one shape for programs and one small page for people."""

from typing import Annotated

import pytest
from litestar import Litestar, get
from litestar.exceptions import HTTPException, NotAuthorizedException, ServiceUnavailableException
from litestar.params import Parameter
from litestar.testing import TestClient, create_test_client

from zataku.server.errors import answer_failure, answer_refusal
from zataku.server.headers import add_safe_headers

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Language": "ja"}


@get("/seat", sync_to_thread=False)
def seat(number: Annotated[int, Parameter(ge=1)]) -> int:
    return number


@get("/broken", sync_to_thread=False)
def broken() -> None:
    raise RuntimeError("the secret of the house")


@get("/full", sync_to_thread=False)
def full() -> None:
    raise HTTPException("no", status_code=409, extra={"seats": 4})


@get("/closed", sync_to_thread=False)
def closed() -> None:
    raise ServiceUnavailableException("the secret of the house")


@get("/private", sync_to_thread=False)
def private() -> None:
    raise NotAuthorizedException(headers={"WWW-Authenticate": "Bearer"})


@pytest.fixture
def house():
    with create_test_client(
        [seat, broken, full, closed, private],
        exception_handlers={HTTPException: answer_refusal, Exception: answer_failure},
        before_send=[add_safe_headers],
        logging_config=None,
        raise_server_exceptions=False,
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("POST", "/healthz", 405, "method_not_allowed"),
        ("GET", "/static/nowhere.css", 404, "not_found"),
        ("GET", "/static/../app.py", 404, "not_found"),
    ],
)
def test_a_refusal_has_the_one_shape(browser: TestClient[Litestar], method: str, path: str, status: int, code: str):
    answer = browser.request(method, path)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"].keys() == {"code", "message", "details"}
    assert answer.json()["error"]["code"] == code


def test_a_wrong_value_is_named_in_the_details(house: TestClient[Litestar]):
    answer = house.get("/seat?number=0")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid"
    assert answer.json()["error"]["details"]["problems"][0]["key"] == "number"


@pytest.mark.parametrize(("path", "status", "code"), [("/broken", 500, "internal"), ("/closed", 503, "unavailable")])
def test_a_failure_gives_a_reference_and_keeps_the_cause_to_itself(
    house: TestClient[Litestar], capsys: pytest.CaptureFixture[str], path: str, status: int, code: str
):
    answer = house.get(path)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    assert "secret" not in answer.text
    logged = "".join(capsys.readouterr())
    assert answer.json()["error"]["details"]["reference"] in logged
    assert "the secret of the house" in logged


def test_a_refusal_keeps_its_details_and_headers(house: TestClient[Litestar]):
    assert house.get("/full").json() == {
        "error": {"code": "conflict", "message": "Conflict.", "details": {"seats": 4}},
    }
    assert house.get("/private").headers["www-authenticate"] == "Bearer"


def test_a_person_gets_a_page_in_their_language_with_a_way_back(browser: TestClient[Litestar]):
    answer = browser.get("/nowhere", headers=BROWSER)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "このページは見つかりません。" in answer.text
    assert 'href="/?lang=ja"' in answer.text


def test_a_person_can_tell_us_the_reference(house: TestClient[Litestar], capsys: pytest.CaptureFixture[str]):
    answer = house.get("/broken", headers=BROWSER)
    assert "問い合わせ番号" in answer.text
    reference = answer.text.split("問い合わせ番号 ")[1].split("<")[0]
    assert reference in "".join(capsys.readouterr())


@pytest.mark.parametrize("accept", ["*/*", "application/json", "image/png", "nonsense", ""])
def test_only_a_browser_gets_a_page(browser: TestClient[Litestar], accept: str):
    assert browser.get("/nowhere", headers={"Accept": accept}).json()["error"]["code"] == "not_found"


def test_errors_carry_the_safe_headers_too(browser: TestClient[Litestar]):
    assert browser.get("/nowhere").headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in browser.get("/nowhere").headers["content-security-policy"]
