"""The admin page: for admins only, with its tabs, backups and restores."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import Visitor
from tests.e2e.server_process import ServerProcess, start_embedded_server
from tests.e2e.test_accessibility import violations

PASSWORD = "correct horse battery"


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server for this test alone, since the test restores it."""
    server = start_embedded_server(tmp_path / "data")
    yield server
    server.close()


@pytest.fixture
def admin(browser: Browser, own_server: ServerProcess) -> Iterator[Visitor]:
    """A visitor who signed up and was made an admin from the command line."""
    visitor = Visitor(browser, own_server.url)
    name = f"Ada {uuid4().hex[:6]}"
    page = visitor.open("/sign-up")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Make an account").click()
    page.wait_for_url(lambda url: "/sign-up" not in url)
    own_server.grant_admin(name)
    yield visitor
    visitor.close()


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def assert_accessible(visitor: Visitor) -> None:
    """Assert that the open page can be used with a screen reader and a keyboard."""
    assert violations(visitor) == []


def test_an_admin_opens_every_tab_and_downloads_a_backup(
    admin: Visitor, own_server: ServerProcess, tmp_path: Path
) -> None:
    for _ in range(3):
        own_server.advance_clock(10)
    page = admin.open("/admin")
    expect(page.get_by_role("heading", name="Admin")).to_be_visible()
    expect(page.get_by_text("Requests per second").first).to_be_visible()
    assert_accessible(admin)
    open_tab(page, "Tables")
    expect(page.get_by_text("Zataku-Platform").first).to_be_visible()
    expect(page.get_by_text("VoteBoardGame").first).to_be_visible()
    assert_accessible(admin)
    open_tab(page, "Jobs")
    expect(page.get_by_text("Upcoming").first).to_be_visible()
    open_tab(page, "People")
    expect(page.get_by_text("Connected now").first).to_be_visible()
    assert_accessible(admin)
    open_tab(page, "Backups")
    page.get_by_role("button", name="Take a backup").click()
    expect(page.get_by_text("Ready").first).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("link", name="Download").or_(page.get_by_role("button", name="Download")).first.click()
    copy = tmp_path / "copy.db"
    started.value.save_as(copy)
    assert copy.read_bytes().startswith(b"SQLite format 3")


def test_a_restore_keeps_rooms_of_the_backup_and_removes_later_ones(admin: Visitor) -> None:
    page = admin.open("/admin")
    create_room = (
        "fetch('/api/live/rooms', {method: 'POST', headers: {'content-type': 'application/json'}, body: '%s'})"
    )
    earlier = page.evaluate((create_room % '{"name": "earlier"}') + ".then(r => r.json())")
    open_tab(page, "Backups")
    page.get_by_role("button", name="Take a backup").click()
    expect(page.get_by_text("Ready").first).to_be_visible()
    later = page.evaluate((create_room % '{"name": "later"}') + ".then(r => r.json())")
    page.get_by_role("button", name="Restore").first.click()
    dialog = page.get_by_role("dialog")
    name = dialog.locator("code, strong").first.inner_text()
    dialog.get_by_role("textbox").fill(name)
    dialog.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Restored").first).to_be_visible()
    statuses = [
        page.evaluate(f"fetch('/api/live/rooms/{room['roomId']}').then(r => r.status)") for room in (earlier, later)
    ]
    assert statuses == [200, 404]


def test_the_page_is_for_admins_only(browser: Browser, server: ServerProcess) -> None:
    visitor = Visitor(browser, server.url)
    page = visitor.open("/admin")
    expect(page.get_by_text("This page is for this server's admins.")).to_be_visible()
    assert page.evaluate("fetch('/api/admin/overview').then(r => r.status)") == 403
    visitor.close()
