"""A live room in two browsers: opened, joined by its QR code, and continued after its server was killed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import PHONE, Visitor, read_qr_code
from tests.e2e.server_process import ServerProcess, start_embedded_server


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[ServerProcess]]:
    """A server that the test may kill; the last of the list is the one that runs."""
    servers = [start_embedded_server(tmp_path / "data")]
    yield servers
    servers[-1].close()


def post_comment(page: Page, text: str) -> None:
    page.get_by_label("Comment", exact=True).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()


def expect_comments(page: Page, *texts: str) -> None:
    """Expect each of these comments once in the log, in this order."""
    log = page.get_by_role("log")
    expect(log.get_by_text(texts[-1], exact=True)).to_be_visible()
    for text in texts:
        expect(log.get_by_text(text, exact=True)).to_have_count(1)
    log_text = log.inner_text()
    offsets = [log_text.index(text) for text in texts]
    assert offsets == sorted(offsets)


def test_two_browsers_continue_after_the_server_was_killed(browser: Browser, servers: list[ServerProcess]) -> None:
    url = servers[-1].url
    host, phone = Visitor(browser, url), Visitor(browser, url, screen=PHONE)
    page = host.open("/live")
    page.get_by_label("Name of the room").fill("型の話をしよう")
    page.get_by_role("button", name="Open a room").click()
    page.wait_for_url(re.compile(r"/live/[0-9a-f-]{36}$"))
    expect(page.get_by_role("heading", name="型の話をしよう")).to_be_visible()
    link = read_qr_code(page.get_by_role("img", name=re.compile("QR")))
    assert re.fullmatch(rf"{re.escape(url)}/l/[1-9][0-9]{{5}}", link)
    phone.page.goto(link)
    phone.page.wait_for_url(page.url)
    expect(phone.page.get_by_role("heading", name="型の話をしよう")).to_be_visible()
    post_comment(phone.page, "hello from the phone")
    post_comment(page, "hello from the stage")
    for open_page in (page, phone.page):
        expect_comments(open_page, "hello from the phone", "hello from the stage")

    servers[-1].kill()
    for open_page in (page, phone.page):
        expect(open_page.get_by_text("Reconnecting. Your text is safe")).to_be_visible()
    phone.page.get_by_label("Comment", exact=True).fill("written while offline")
    servers.append(servers[-1].restarted())
    for open_page in (page, phone.page):
        expect(open_page.get_by_text("Reconnecting. Your text is safe")).to_be_hidden()
    expect(phone.page.get_by_label("Comment", exact=True)).to_have_value("written while offline")
    phone.page.get_by_role("button", name="Send", exact=True).click()
    post_comment(page, "we are back")
    for open_page in (page, phone.page):
        expect_comments(
            open_page, "hello from the phone", "hello from the stage", "written while offline", "we are back"
        )

    page.get_by_role("button", name="End the room").click()
    page.get_by_role("dialog").get_by_role("button", name="End it").click()
    for open_page in (page, phone.page):
        expect(open_page.get_by_text("This room has ended.").first).to_be_visible()
        expect(open_page.get_by_label("Comment", exact=True)).to_have_count(0)
    host.close()
    phone.close()


def test_markup_in_a_comment_is_text(browser: Browser, server: ServerProcess) -> None:
    host = Visitor(browser, server.url)
    page = host.open("/live")
    page.get_by_label("Name of the room").fill("<b>bold</b>")
    page.get_by_role("button", name="Open a room").click()
    page.wait_for_url(re.compile(r"/live/[0-9a-f-]{36}$"))
    post_comment(page, "<img src=x onerror=alert(1)>")
    expect_comments(page, "<img src=x onerror=alert(1)>")
    expect(page.get_by_role("heading", name="<b>bold</b>")).to_be_visible()
    host.close()


def test_the_page_of_an_unknown_room_says_that_there_is_none(browser: Browser, server: ServerProcess) -> None:
    visitor = Visitor(browser, server.url, screen=PHONE)
    visitor.open("/live/00000000-0000-4000-8000-000000000000")
    expect(visitor.page.get_by_text("No such room")).to_be_visible()
    visitor.close()
