"""The page of the API: in the reader's language, with code as code."""

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import Visitor
from tests.e2e.server_process import ServerProcess


@pytest.mark.parametrize(
    ("language", "heading", "summary", "search"),
    [
        ("ja", "アカウント", "ルームのコメント", "番号から"),
        ("ko", "계정", "방의 댓글", "번호로"),
        ("en", "Accounts", "The comments of a room", "behind a number"),
    ],
)
def test_the_api_is_described_in_the_language_of_the_reader(
    browser: Browser, server: ServerProcess, language: str, heading: str, summary: str, search: str
) -> None:
    visitor = Visitor(browser, server.url, language=language)
    page = visitor.open("/docs#liveRoomComments")
    operation = page.locator("#liveRoomComments")
    expect(operation.locator("summary").first).to_contain_text(summary)
    expect(page.get_by_role("heading", name=heading, exact=True).last).to_be_visible()
    expect(operation.locator("p code").first).to_have_text("seq")
    assert "`" not in page.locator("main").inner_text()
    # What can be read can be searched for.
    page.get_by_role("searchbox").fill(search)
    expect(page.locator("details[id]")).to_have_count(1)
    expect(page.locator("#liveRoomsWithCode")).to_be_visible()
    visitor.close()
