"""The admin page: for hosts only, and what a host does there."""

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
def tended(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server of the test's own, since it is restored."""
    server = start_embedded_server(tmp_path / "data")
    yield server
    server.close()


@pytest.fixture
def admin(browser: Browser, tended: ServerProcess) -> Iterator[Visitor]:
    """Somebody who signed up, and whom the host made an admin from the command line."""
    visitor = Visitor(browser, tended.url)
    name = f"host {uuid4().hex[:6]}"
    page = visitor.open("/sign-up")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Make an account").click()
    page.wait_for_url(lambda url: "/sign-up" not in url)
    tended.grant_admin(name)
    yield visitor
    visitor.close()


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def nothing_is_in_the_way(visitor: Visitor) -> None:
    """Somebody with a screen reader or a keyboard can use what is shown."""
    assert violations(visitor) == []


def test_a_host_looks_after_the_server(admin: Visitor, tended: ServerProcess, tmp_path: Path) -> None:
    for _ in range(3):
        tended.advance_clock(10)
    page = admin.open("/admin")
    expect(page.get_by_role("heading", name="Admin")).to_be_visible()
    expect(page.get_by_text("Requests per second").first).to_be_visible()
    nothing_is_in_the_way(admin)
    tab(page, "Tables")
    expect(page.get_by_text("Zataku-Platform").first).to_be_visible()
    expect(page.get_by_text("VoteBoardGame").first).to_be_visible()
    nothing_is_in_the_way(admin)
    tab(page, "Jobs")
    expect(page.get_by_text("Upcoming").first).to_be_visible()
    tab(page, "People")
    expect(page.get_by_text("Connected now").first).to_be_visible()
    nothing_is_in_the_way(admin)
    tab(page, "Backups")
    page.get_by_role("button", name="Take a backup").click()
    expect(page.get_by_text("Ready").first).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("link", name="Download").or_(page.get_by_role("button", name="Download")).first.click()
    copy = tmp_path / "copy.db"
    started.value.save_as(copy)
    assert copy.read_bytes().startswith(b"SQLite format 3")


def test_a_backup_brings_back_what_was_there(admin: Visitor) -> None:
    page = admin.open("/admin")
    made = "fetch('/api/live/rooms', {method: 'POST', headers: {'content-type': 'application/json'}, body: '%s'})"
    kept = page.evaluate((made % '{"name": "kept"}') + ".then(r => r.json())")
    tab(page, "Backups")
    page.get_by_role("button", name="Take a backup").click()
    expect(page.get_by_text("Ready").first).to_be_visible()
    lost = page.evaluate((made % '{"name": "lost"}') + ".then(r => r.json())")
    page.get_by_role("button", name="Restore").first.click()
    dialog = page.get_by_role("dialog")
    name = dialog.locator("code, strong").first.inner_text()
    dialog.get_by_role("textbox").fill(name)
    dialog.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Restored").first).to_be_visible()
    looked = [page.evaluate(f"fetch('/api/live/rooms/{it['roomId']}').then(r => r.status)") for it in (kept, lost)]
    assert looked == [200, 404]


def test_the_page_is_for_hosts_only(browser: Browser, server: ServerProcess) -> None:
    visitor = Visitor(browser, server.url)
    page = visitor.open("/admin")
    expect(page.get_by_text("This page is for this server's admins.")).to_be_visible()
    assert page.evaluate("fetch('/api/admin/overview').then(r => r.status)") == 403
    visitor.close()
