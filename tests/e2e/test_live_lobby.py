"""Ways into a live room: its number, a wrong one, and the demo of an empty server, with and without a connection."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import PHONE, Visitor
from tests.e2e.server_process import ServerProcess

NO_NUMBER = "A room number has six digits. Check the number on the slide."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with demo data, on which no other room runs."""
    server = ServerProcess("--data", str(tmp_path_factory.mktemp("lobby")))
    yield server
    assert server.close() == 0


@pytest.fixture
def visitor(browser: Browser, server: ServerProcess) -> Iterator[Visitor]:
    visitor = Visitor(browser, server.url, screen=PHONE)
    yield visitor
    visitor.close()


def test_what_the_home_page_promises_can_be_entered(visitor: Visitor) -> None:
    page = visitor.open("/")
    objects = page.get_by_role("region", name="On the table").get_by_role("link")
    expect(objects.filter(has_text="Live")).to_contain_text("A demo room is open")
    expect(objects.filter(has_text="Coming later")).to_have_count(objects.count() - 1)
    objects.filter(has_text="Live").click()
    page.get_by_role("link", name="A first live room").click()
    log = page.get_by_role("log")
    expect(log.locator(".comment").filter(has_text="How do you test for stale reads?")).to_be_visible()
    expect(log.locator(".comment .seal").first).to_be_visible()
    expect(page.get_by_label("Comment", exact=True)).to_be_enabled()


def test_a_malformed_number_has_a_sentence_of_its_own(visitor: Visitor) -> None:
    for number in ("12a", "12345", "1234567", "talk"):
        page = visitor.open(f"/l/{number}")
        expect(page.get_by_role("heading", name="Not a room number")).to_be_visible()
        expect(page.get_by_text(NO_NUMBER)).to_be_visible()
    page.get_by_label("Room number").fill("12 34")
    page.get_by_role("button", name="Join").click()
    expect(page.locator(".error")).to_contain_text(NO_NUMBER)
    page = visitor.open("/l/999999")
    expect(page.get_by_role("heading", name="No room at 999999")).to_be_visible()
    expect(page.get_by_text(NO_NUMBER)).to_have_count(0)


def test_a_room_without_a_connection_says_so_and_recovers(visitor: Visitor) -> None:
    page = visitor.open("/l/246810")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
    visitor.context.set_offline(True)
    expect(page.get_by_text("Reconnecting. Your text is safe")).to_be_visible()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    visitor.context.set_offline(False)
    expect(page.get_by_text("Reconnecting. Your text is safe")).to_have_count(0)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
