"""The layout of a live room, measured: what host and audience see at once, and that nothing covers the words."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.browser import PHONE, Visitor
from tests.e2e.overlay_page import Room
from tests.e2e.server_process import ServerProcess, start_embedded_server

LAPTOP = {"width": 1366, "height": 640}
SMALL_PHONE = {"width": 320, "height": 568}
COMMENTS = (
    "The microphone is just right",
    "same here!",
    "Where do the exception types get decided? I keep meeting code that raises whatever is at hand",
    "Could you share that diagram later, please?",
)

# Run in the page: how many rows, and how many lines of comments, can be seen in the log whole.
SEEN_ROWS = """
(log) => {
  const { top, bottom } = log.getBoundingClientRect()
  const isSeen = (box) => box.top >= top && box.bottom <= bottom
  return [...log.querySelectorAll('[data-seq]')].filter((row) => isSeen(row.getBoundingClientRect())).length
}
"""
SEEN_LINES = """
(log) => {
  const { top, bottom } = log.getBoundingClientRect()
  const isSeen = (box) => box.top >= top && box.bottom <= bottom
  const lines = [...log.querySelectorAll('.text')].flatMap((text) => [...text.getClientRects()].filter(isSeen))
  return new Set(lines.map((line) => Math.round(line.bottom))).size
}
"""
# The pairs of a control and a piece of text in a row whose boxes intersect.
COVERED = """
(log) => [...log.querySelectorAll('[data-seq]')].flatMap((row) => {
  const lines = [...row.querySelectorAll('b, .text')].flatMap((part) => [...part.getClientRects()])
  return [...row.querySelectorAll('button')].flatMap((button) => {
    const box = button.getBoundingClientRect()
    const isBeside = (line) => box.right <= line.left || line.right <= box.left
    const covers = (line) => !isBeside(line) && box.top < line.bottom && box.bottom > line.top
    return lines.some(covers) ? [`${button.ariaLabel ?? button.textContent} covers ${row.textContent}`] : []
  })
})
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced, so that no test waits for a rate limit."""
    server = start_embedded_server(tmp_path_factory.mktemp("layout"))
    yield server
    assert server.close() == 0


@pytest.fixture
def room(server: ServerProcess) -> Iterator[Room]:
    """A room with comments of its host, of which one is pinned."""
    room = Room(server)
    ids = [room.post_comment(COMMENTS[at % len(COMMENTS)]) for at in range(16)]
    room.mark(ids[2], "PINNED")
    yield room
    room.close()


def open_as_host(visitor: Visitor, room: Room, *, count: int = 16) -> Page:
    """The room's page in the browser of its host."""
    visitor.context.add_cookies(
        [{"name": c.name, "value": c.value or "", "url": visitor.url} for c in room.host.cookies.jar]
    )
    return open_as_guest(visitor, room, count=count)


def open_as_guest(visitor: Visitor, room: Room, *, count: int = 16) -> Page:
    page = visitor.open(f"/live/{room.view['roomId']}")
    expect(log_of(page).locator("[data-seq]")).to_have_count(count)
    return page


def log_of(page: Page) -> Locator:
    return page.get_by_role("log")


def intersects(one: Locator, other: Locator) -> bool:
    a, b = one.bounding_box(), other.bounding_box()
    assert a is not None
    assert b is not None
    is_beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
    return not is_beside and a["y"] < b["y"] + b["height"] and b["y"] < a["y"] + a["height"]


@pytest.mark.parametrize("seconds_between", [0, 60], ids=["within-a-minute", "each-in-its-own-minute"])
def test_the_host_sees_eight_comments_on_a_laptop(
    browser: Browser, server: ServerProcess, room: Room, seconds_between: int
) -> None:
    # The first comment of a minute has its time, which makes its line longer.
    for at in range(16):
        server.advance_clock(seconds_between)
        room.post_comment(COMMENTS[at % len(COMMENTS)])
    host = Visitor(browser, server.url, screen=LAPTOP)
    page = open_as_host(host, room, count=32)
    assert log_of(page).evaluate(SEEN_ROWS) >= 8
    host.close()


def test_the_host_sees_eight_comments_on_a_laptop_in_the_language_of_the_audience(
    browser: Browser, server: ServerProcess, room: Room
) -> None:
    # Every other takes two lines, every fourth has the host's seal, and the fonts are not those of the page.
    texts = (
        "マイクの音、ちょうどいいです!",
        "예외 타입은 어디에서 정하나요? 저희 팀에서는 아직 정하지 못해서 다들 궁금해하고 있어요",
    )
    for at in range(16):
        server.advance_clock(60)
        room.post_comment(texts[at % 2], "みどり" if at % 4 == 1 else "민수", by_host=at % 4 == 1)
    host = Visitor(browser, server.url, screen=LAPTOP)
    page = open_as_host(host, room, count=32)
    assert log_of(page).evaluate(SEEN_ROWS) >= 8
    host.close()


@pytest.mark.parametrize("screen", [LAPTOP, {"width": 800, "height": 900}, PHONE], ids=["laptop", "tablet", "phone"])
def test_the_controls_of_a_comment_never_cover_its_words(
    browser: Browser, server: ServerProcess, room: Room, screen: dict[str, int]
) -> None:
    host = Visitor(browser, server.url, screen=screen)
    page = open_as_host(host, room)
    log_of(page).locator("[data-seq]").nth(14).hover()
    assert log_of(page).evaluate(COVERED) == []
    room.end()
    expect(page.locator(".row[data-seq]").first).to_be_visible()
    page.locator(".row[data-seq]").nth(2).hover()
    assert log_of(page).evaluate(COVERED) == []
    host.close()


@pytest.mark.parametrize(
    ("language", "pinned", "unpin"),
    [("en", "Pinned", "Unpin"), ("ja", "ピン留め", "ピンを外す"), ("ko", "고정됨", "고정 풀기")],
)
def test_a_small_phone_shows_its_host_four_lines_below_the_pinned_comment(
    browser: Browser, server: ServerProcess, room: Room, language: str, pinned: str, unpin: str
) -> None:
    host = Visitor(browser, server.url, screen=SMALL_PHONE, language=language)
    room.host.patch("/api/me", json={"language": language}).raise_for_status()
    room.mark(room.post_comment("a hidden one"), "HIDDEN")
    room.pause()
    page = open_as_host(host, room, count=17)
    expect(page.get_by_role("region", name=pinned).get_by_role("button", name=unpin)).to_be_visible()
    assert log_of(page).evaluate(SEEN_LINES) >= 4
    # Nothing is wider than the paper that it is on.
    paper, inside = (page.locator(part).bounding_box() for part in (".sheet", ".open-room"))
    assert paper
    assert inside
    assert inside["width"] <= paper["width"]
    host.close()


def test_a_small_phone_shows_four_lines_of_a_paused_room_below_the_pinned_comment(
    browser: Browser, server: ServerProcess, room: Room
) -> None:
    guest = Visitor(browser, server.url, screen=SMALL_PHONE)
    page = open_as_guest(guest, room)
    # With an upvote the choice of the order shows, too.
    page.get_by_role("button", name="Upvote", exact=True).last.click()
    room.pause()
    pinned = page.get_by_role("region", name="Pinned")
    expect(pinned).to_contain_text("Where do the exception types get decided?")
    expect(pinned.get_by_role("button", name="All of it")).to_be_visible()
    expect(page.get_by_role("radio", name="Top")).to_be_attached()
    expect(page.get_by_text("Comments are paused for a moment.")).to_be_visible()
    assert log_of(page).evaluate(SEEN_LINES) >= 4
    guest.close()


def test_the_button_that_paused_the_room_stays_where_it_was_pressed(
    browser: Browser, server: ServerProcess, room: Room
) -> None:
    host = Visitor(browser, server.url, screen=LAPTOP)
    page = open_as_host(host, room)
    pause, resume = (page.get_by_role("button", name=f"{verb} comments") for verb in ("Pause", "Resume"))
    before = pause.bounding_box()
    pause.click()
    expect(page.get_by_text("Comments are paused", exact=True)).to_be_attached()
    expect(resume).to_be_visible()
    assert resume.bounding_box() == before
    host.close()


@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_toast_never_covers_the_field(
    browser: Browser, server: ServerProcess, room: Room, screen: dict[str, int]
) -> None:
    host = Visitor(browser, server.url, screen=screen)
    page = open_as_host(host, room)
    page.get_by_role("region", name="Pinned").get_by_role("button", name="Mark answered").click()
    toast = page.locator(".toast").filter(has_text="Marked as answered")
    expect(toast).to_be_visible()
    toast.hover()
    for covered in (page.get_by_label("Comment", exact=True), page.get_by_role("button", name="Send", exact=True)):
        assert not intersects(toast, covered)
    host.close()


def test_the_host_answers_and_unpins_a_comment_where_it_is_pinned(
    browser: Browser, server: ServerProcess, room: Room
) -> None:
    host = Visitor(browser, server.url, screen=LAPTOP)
    page = open_as_host(host, room)
    pinned = page.get_by_role("region", name="Pinned")
    pinned.get_by_role("button", name="Mark answered").click()
    expect(pinned.get_by_role("button", name="Mark unanswered")).to_be_visible()
    pinned.get_by_role("button", name="Unpin").click()
    expect(pinned).to_be_hidden()
    host.close()


def test_an_upvote_has_a_word_and_shows_its_count(browser: Browser, server: ServerProcess, room: Room) -> None:
    for screen in (LAPTOP, SMALL_PHONE):
        guest = Visitor(browser, server.url, screen=screen)
        page = open_as_guest(guest, room)
        button = log_of(page).locator("[data-upvote]").nth(15 if screen is LAPTOP else 14)
        expect(button).to_have_text("Upvote", use_inner_text=True)
        button.click()
        expect(button).to_contain_text("1", use_inner_text=True)
        guest.close()


def test_joining_comes_before_opening_on_a_phone(browser: Browser, server: ServerProcess) -> None:
    guest = Visitor(browser, server.url, screen=PHONE)
    page = guest.open("/live")
    join, start = (page.get_by_role("button", name=name).bounding_box() for name in ("Join", "Open a room"))
    assert join
    assert start
    assert join["y"] + join["height"] < start["y"]
    guest.close()


@pytest.mark.parametrize("screen", [LAPTOP, SMALL_PHONE], ids=["laptop", "phone"])
def test_the_home_page_leads_into_a_room_by_its_number_without_scrolling(
    browser: Browser, server: ServerProcess, room: Room, screen: dict[str, int]
) -> None:
    guest = Visitor(browser, server.url, screen=screen)
    page = guest.open("/")
    number = page.get_by_label("Number of a live room")
    expect(number).to_be_in_viewport(ratio=1)
    join = page.get_by_role("button", name="Join")
    expect(join).to_be_in_viewport(ratio=1)
    # The button is level with the field, and beside it.
    field, button = page.locator(".entry .box").bounding_box(), join.bounding_box()
    assert field
    assert button
    assert abs(field["y"] - button["y"]) <= 1
    assert field["x"] + field["width"] <= button["x"]
    number.fill(room.view["code"])
    page.wait_for_url(f"**/live/{room.view['roomId']}")
    guest.close()


def test_a_pinned_comment_can_be_unfolded_exactly_where_it_is_cut(browser: Browser, server: ServerProcess) -> None:
    room = Room(server)
    room.mark(room.post_comment("A question that is cut on a small phone only"), "PINNED")
    for screen, is_cut in ((SMALL_PHONE, True), (LAPTOP, False)):
        guest = Visitor(browser, server.url, screen=screen)
        page = guest.open(f"/live/{room.view['roomId']}")
        pinned = page.get_by_role("region", name="Pinned")
        expect(pinned).to_be_visible()
        expect(pinned.get_by_role("button", name="All of it")).to_have_count(int(is_cut))
        guest.close()
    room.close()


@pytest.mark.parametrize("language", ["en", "ja", "ko"])
def test_the_home_card_says_how_many_rooms_have_ended_without_cutting_it(
    browser: Browser, server: ServerProcess, room: Room, language: str
) -> None:
    room.end()
    host = Visitor(browser, server.url, screen=PHONE, language=language)
    host.context.add_cookies([{"name": c.name, "value": c.value or "", "url": host.url} for c in room.host.cookies.jar])
    page = host.open(f"/?lang={language}")
    detail = page.get_by_role("link").locator(".detail")
    expect(detail).to_contain_text("1")
    assert detail.evaluate("(detail) => detail.scrollWidth <= detail.clientWidth")
    host.close()
