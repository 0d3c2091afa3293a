"""A page that is opened without a connection recovers by itself, without a reload by its reader."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.e2e.browser import PHONE, Visitor
from tests.e2e.server_process import ServerProcess

REQUESTS = re.compile(r"/api/|/healthz|/openapi\.json")
TEXTS = re.compile(r"/assets/en-[^/]*\.js")


@pytest.fixture
def visitor(browser: Browser, server: ServerProcess) -> Iterator[Visitor]:
    visitor = Visitor(browser, server.url, screen=PHONE)
    yield visitor
    visitor.close()


def abort(route: Route) -> None:
    route.abort("internetdisconnected")


def go_online(visitor: Visitor, pattern: re.Pattern[str]) -> None:
    """Let requests through, and notify the page as a browser does."""
    visitor.page.unroute(pattern)
    visitor.page.evaluate("dispatchEvent(new Event('online'))")


@pytest.mark.parametrize(
    ("path", "sign"),
    [
        ("/", "A demo room is open"),
        ("/live", "None yet. Rooms you open show up here."),
        ("/live/00000000-0000-4000-8000-000000000000", "No such room"),
        ("/docs", "Every error has this shape."),
    ],
)
def test_a_page_whose_first_requests_fail_loads_them_later(visitor: Visitor, path: str, sign: str) -> None:
    visitor.page.route(REQUESTS, abort)
    page = visitor.open(path)
    expect(page.get_by_role("alert")).to_be_visible()
    go_online(visitor, REQUESTS)
    expect(page.get_by_text(sign).first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_page_that_is_followed_to_without_a_connection_opens_later(visitor: Visitor) -> None:
    page = visitor.open("/")
    page.wait_for_load_state("networkidle")
    visitor.context.set_offline(True)
    page.get_by_role("link", name="API").click()
    expect(page.get_by_role("heading", name="The page didn't open")).to_be_visible()
    visitor.context.set_offline(False)
    expect(page.get_by_role("heading", name="For your programs")).to_be_visible()


def test_a_page_without_its_texts_is_loaded_again(visitor: Visitor) -> None:
    both = re.compile(f"{REQUESTS.pattern}|{TEXTS.pattern}")
    visitor.page.route(both, abort)
    with visitor.page.expect_request(TEXTS):
        visitor.page.goto(f"{visitor.url}/live")
    go_online(visitor, both)
    expect(visitor.page.get_by_role("heading", name="Live", exact=True)).to_be_visible()
