"""The log of a live room: long ones by keyboard, the reader's own comments, and its words when read or copied."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.browser import PHONE, Visitor
from tests.e2e.overlay_page import Room
from tests.e2e.server_process import ServerProcess, start_embedded_server

COMMENTS = 230
"""More than the 200 rows that are in the page at once."""

# Run in the page: true when an element is inside the log's window.
SEEN = """
([element]) => {
  const box = element?.getBoundingClientRect()
  const log = element?.closest('[role=log]').getBoundingClientRect()
  return box !== undefined && box.top >= log.top && box.bottom <= log.bottom
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced, so that no test waits for a rate limit."""
    server = start_embedded_server(tmp_path_factory.mktemp("log"))
    yield server
    assert server.close() == 0


@pytest.fixture(scope="module")
def room(server: ServerProcess) -> Iterator[Room]:
    """A room with a long log."""
    room = Room(server)
    for number in range(COMMENTS):
        room.post_comment(f"comment {number}")
    yield room
    room.close()


@pytest.fixture
def guest(browser: Browser, server: ServerProcess) -> Iterator[Visitor]:
    visitor = Visitor(browser, server.url, screen=PHONE)
    yield visitor
    visitor.close()


def open_room(guest: Visitor, room: Room) -> Page:
    page = guest.open(f"/live/{room.view['roomId']}")
    expect(page.get_by_text(f"comment {COMMENTS - 1}", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
    return page


def send(page: Page, text: str) -> None:
    page.get_by_label("Comment", exact=True).fill(text)
    page.get_by_role("button", name="Send", exact=True).click()


def press_until(page: Page, key: str, target: Locator) -> None:
    """Press a key again and again, as a reader does, until something can be seen."""
    for _ in range(200):
        page.keyboard.press(key)
        if target.evaluate_all(SEEN):
            return
        page.evaluate("new Promise(requestAnimationFrame)")
    raise AssertionError(f"{key} does not lead there.")


def test_home_and_end_lead_through_a_long_log_and_keep_the_focus(guest: Visitor, room: Room) -> None:
    page = open_room(guest, room)
    # The log is another element after each switch to the history and back.
    focused_log = page.locator("[role=log]:focus-within")
    page.get_by_role("log").focus()
    page.keyboard.press("Tab")
    expect(page.locator("[data-upvote]").last).to_be_focused()
    press_until(page, "Home", page.get_by_text("comment 0", exact=True))
    expect(focused_log).to_be_visible()
    press_until(page, "End", page.get_by_text(f"comment {COMMENTS - 1}", exact=True))
    expect(focused_log).to_be_visible()
    # An error of the page fails the test when its browser closes.


def test_one_end_leads_from_the_beginning_of_a_long_log_to_the_newest(guest: Visitor, room: Room) -> None:
    page = open_room(guest, room)
    page.get_by_role("log").focus()
    press_until(page, "Home", page.get_by_text("comment 0", exact=True))
    page.keyboard.press("End")
    expect(page.get_by_text(f"comment {COMMENTS - 1}", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("button", name="To the newest")).to_have_count(0)


@pytest.mark.parametrize("distance", [400, 100_000], ids=["a bit", "into the history"])
def test_who_has_scrolled_up_sees_what_they_send(guest: Visitor, room: Room, distance: int) -> None:
    page = open_room(guest, room)
    log = page.get_by_role("log")
    log.evaluate("(log, distance) => (log.scrollTop -= distance)", distance)
    expect(page.get_by_text(f"comment {COMMENTS - 1}", exact=True)).not_to_be_in_viewport()
    if distance > 400:
        expect(page.get_by_role("button", name="To the newest")).to_be_visible()
    send(page, f"mine, after {distance}")
    expect(page.get_by_text(f"mine, after {distance}", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_text(f"mine, after {distance}", exact=True)).to_have_count(0)


def test_who_reads_the_top_comments_sees_what_they_send(guest: Visitor, room: Room) -> None:
    page = open_room(guest, room)
    page.locator("[data-upvote]").last.click()
    page.get_by_role("radio", name="Top").check(force=True)
    send(page, "mine, from the top")
    expect(page.get_by_text("mine, from the top", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Take back").click()


def test_name_label_and_text_are_words_of_their_own(guest: Visitor, room: Room) -> None:
    page = open_room(guest, room)
    page.get_by_role("button", name="Change name").click()
    page.get_by_label("Nickname").fill("Ada")
    page.get_by_role("button", name="Use it").click()
    send(page, "hello there")
    row = page.locator(".comment").filter(has_text="hello there")
    words = row.locator("p").first
    spoken = re.compile(r"^Ada you (\d+:\d\d\s[AP]M )?hello there$")
    expect(words).to_have_text(spoken)
    copied = words.evaluate("(words) => (getSelection().selectAllChildren(words), String(getSelection()))")
    assert spoken.match(" ".join(copied.split()))
    row.get_by_role("button", name="Take back").click()
    expect(row).to_have_count(0)


def test_the_seal_of_the_host_is_copied_on_the_line_of_the_comment(guest: Visitor, room: Room) -> None:
    room.post_comment("welcome", "Midori", by_host=True)
    page = guest.open(f"/live/{room.view['roomId']}")
    words = page.locator(".comment").filter(has_text="welcome").locator("p").first
    copied = words.evaluate("(words) => (getSelection().selectAllChildren(words), String(getSelection()))")
    assert re.fullmatch(r"Midori +主 Host +(\d+:\d\d\s[AP]M +)?welcome", copied)
