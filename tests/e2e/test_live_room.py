"""A live room from its opening to its close, in the browsers of the host, two visitors, and the overlay."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

from tests.e2e.browser import PHONE, Visitor, read_qr_code
from tests.e2e.server_process import ServerProcess, start_embedded_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose clock can be advanced."""
    server = start_embedded_server(tmp_path_factory.mktemp("rooms"))
    yield server
    assert server.close() == 0


class RoomVisitor(Visitor):
    """A browser in a room, which can post comments and lose its connection."""

    def __init__(self, browser: Browser, server: ServerProcess, *, phone: bool = True) -> None:
        super().__init__(browser, server.url, **({"screen": PHONE} if phone else {}))
        self._sockets: list[WebSocketRoute] = []
        self._is_offline = False
        self.page.route_web_socket(re.compile("/socket$"), self._connect)

    def post_comment(self, text: str) -> None:
        self.page.get_by_label("Comment", exact=True).fill(text)
        self.page.get_by_role("button", name="Send", exact=True).click()

    def comment(self, text: str) -> Locator:
        """A comment in the log."""
        return self.page.get_by_role("log").locator(".comment", has=self.page.get_by_text(text, exact=True))

    def expect_comments(self, *texts: str) -> None:
        """Expect exactly these comments in the log, in this order."""
        expect(self.page.get_by_role("log").locator(".comment .text")).to_have_text(list(texts))

    def go_offline(self) -> None:
        """Close the socket, and every further one."""
        self._is_offline = True
        for socket in self._sockets:
            socket.close(code=1001)
        self._sockets.clear()

    def go_online(self) -> None:
        """Let the next socket connect, and notify the page as a browser does, which ends its wait for a retry."""
        self._is_offline = False
        self.page.evaluate("window.dispatchEvent(new Event('online'))")

    def _connect(self, socket: WebSocketRoute) -> None:
        if self._is_offline:
            socket.close(code=1001)
            return
        socket.connect_to_server()
        self._sockets.append(socket)


class RoomBrowsers:
    """A room in four browsers: its host, two visitors with phones, and the overlay."""

    def __init__(self, browser: Browser, server: ServerProcess) -> None:
        self.server = server
        self.host, self.ada, self.bo = (
            RoomVisitor(browser, server, phone=False),
            RoomVisitor(browser, server),
            RoomVisitor(browser, server),
        )
        page = self.host.open("/live")
        page.get_by_label("Name of the room").fill("型の話をしよう <b>")
        page.get_by_role("button", name="Open a room").click()
        page.wait_for_url(re.compile(r"/live/[0-9a-f-]{36}$"))
        self.screen = Visitor(browser, server.url)
        self.overlay = self.screen.page
        self.overlay.goto(f"{page.url}/overlay")
        self.overlay.wait_for_selector("#stage[data-joined]", state="attached")

    def moderate(self, visitor: RoomVisitor, text: str, name: str) -> None:
        """Moderate a comment, by its button or menu."""
        row = visitor.comment(text)
        row.hover()
        button = row.get_by_role("button", name=re.compile(rf"^{name}"))
        if button.count() == 0:
            row.get_by_role("button", name=re.compile("^More")).click()
            button = visitor.page.get_by_role("menuitem", name=re.compile(rf"^{name}")).or_(
                visitor.page.get_by_role("button", name=re.compile(rf"^{name}"))
            )
        button.first.click()

    @property
    def visitors(self) -> tuple[RoomVisitor, RoomVisitor, RoomVisitor]:
        return self.host, self.ada, self.bo

    def close(self) -> None:
        for visitor in (*self.visitors, self.screen):
            visitor.close()


@pytest.fixture
def room(browser: Browser, server: ServerProcess) -> Iterator[RoomBrowsers]:
    room = RoomBrowsers(browser, server)
    yield room
    room.close()


def flying(overlay: Page, text: str) -> Locator:
    """A comment on the overlay, wherever it is shown there."""
    return overlay.locator("#stage").get_by_text(text, exact=True)


def join_room(room: RoomBrowsers) -> None:
    """Join the room with one phone by its QR code, and with the other by its number."""
    host = room.host.page
    link = read_qr_code(host.get_by_role("img", name=re.compile("QR")))
    number = re.sub(r"\D", "", host.locator(".code").first.inner_text())
    assert re.fullmatch(r"[1-9]\d{5}", number)
    assert link == f"{room.server.url}/l/{number}"
    room.ada.page.goto(link)
    room.ada.page.wait_for_url(host.url)
    page = room.bo.open("/live")
    page.get_by_label("Room number").fill(number)
    page.wait_for_url(host.url)
    for visitor in (room.ada, room.bo):
        expect(visitor.page.get_by_role("heading", name="型の話をしよう <b>")).to_be_visible()
        # The overlay is no person.
        expect(visitor.page.get_by_text("3 here", exact=True)).to_be_visible()


def test_comments_reactions_and_upvotes_reach_every_browser_and_the_overlay(room: RoomBrowsers) -> None:
    join_room(room)
    room.ada.page.get_by_role("button", name="Change name").click()
    room.ada.page.get_by_label("Nickname").fill("Ada")
    room.ada.page.get_by_role("button", name="Use it").click()
    room.ada.post_comment("why is <i>this</i> typed?")
    expect(flying(room.overlay, "why is <i>this</i> typed?")).to_be_visible()
    room.bo.post_comment("こんにちは")
    expect(room.host.page.get_by_text("As Host", exact=True)).to_be_visible()
    expect(room.bo.page.get_by_text("As Anonymous", exact=True)).to_be_visible()
    room.host.post_comment("welcome 👋")
    for visitor in room.visitors:
        visitor.expect_comments("why is <i>this</i> typed?", "こんにちは", "welcome 👋")
        expect(visitor.comment("why is <i>this</i> typed?")).to_contain_text("Ada")
        expect(visitor.comment("こんにちは")).to_contain_text("Anonymous 1")
        expect(visitor.comment("welcome 👋")).to_contain_text("Host")
        expect(visitor.page.get_by_role("log").locator(".seal")).to_have_count(1)
    expect(room.overlay.get_by_role("img", name="Host")).to_be_visible()

    # Reactions and upvotes.
    room.bo.comment("why is <i>this</i> typed?").get_by_role("button", name=re.compile("^Upvote")).click()
    for visitor in room.visitors:
        expect(visitor.comment("why is <i>this</i> typed?").get_by_role("button", name="Upvote +1")).to_be_visible()
    room.bo.comment("why is <i>this</i> typed?").get_by_role("button", name="Upvote +1").click()
    for visitor in room.visitors:
        upvote = visitor.comment("why is <i>this</i> typed?").get_by_role("button", name="Upvote", exact=True)
        expect(upvote).to_have_attribute("aria-pressed", "false")
    expect(room.ada.comment("why is <i>this</i> typed?").locator("[data-upvote]")).to_have_attribute(
        "aria-disabled", "true"
    )
    room.ada.page.get_by_role("button", name="Clap").click()
    expect(room.overlay.locator("#stage .tags")).to_contain_text("Clap")

    # A sender takes a comment back.
    room.bo.post_comment("oops")
    expect(room.host.comment("oops")).to_be_visible()
    room.bo.comment("oops").get_by_role("button", name=re.compile("Take back")).click()
    for visitor in room.visitors:
        expect(visitor.comment("oops")).to_have_count(0)


def test_a_refused_name_is_changed_where_the_error_is_and_the_comment_stays(room: RoomBrowsers) -> None:
    join_room(room)
    page = room.bo.page
    name, comment, send = (
        page.get_by_label("Nickname"),
        page.get_by_label("Comment", exact=True),
        page.get_by_role("button", name="Send"),
    )
    page.get_by_role("button", name="Change name").click()
    name.fill("Mоderator")
    page.get_by_role("button", name="Use it").click()
    room.bo.post_comment("trust me")
    for refused in ("Mоderator", "ADMIN 2"):
        expect(name).to_be_focused()
        expect(name).to_have_value(refused)
        expect(name).to_have_accessible_description("This name is reserved. Choose another one.")
        expect(comment).to_have_value("trust me")
        expect(comment).not_to_have_attribute("aria-invalid", "true")
        # What is typed there counts, without a press of its button.
        name.fill("ADMIN 2")
        send.click()
    name.fill("x" * 31)
    send.click()
    expect(name).to_be_focused()
    name.fill("Bo")
    send.click()
    for visitor in room.visitors:
        visitor.expect_comments("trust me")
        expect(visitor.comment("trust me")).to_contain_text("Bo")
    expect(name).to_have_count(0)
    expect(comment).to_have_value("")
    expect(comment).to_be_focused()


def test_the_host_moderates_and_every_action_is_in_the_log(room: RoomBrowsers) -> None:
    join_room(room)
    room.ada.post_comment("a question?")
    room.bo.post_comment("something rude")
    host = room.host.page
    expect(room.host.comment("something rude")).to_be_visible()

    room.moderate(room.host, "a question?", "Pin")
    for page in (room.ada.page, room.bo.page, room.overlay):
        expect(page.locator(".pinned, .pinned-tag").get_by_text("a question?", exact=True).first).to_be_visible()
    room.moderate(room.host, "a question?", "Mark answered")
    expect(room.bo.comment("a question?")).to_contain_text("Answered")

    room.moderate(room.host, "something rude", "Hide")
    for visitor in (room.ada, room.bo):
        expect(visitor.comment("something rude")).to_have_count(0)
    expect(flying(room.overlay, "something rude")).to_have_count(0)
    expect(room.host.comment("something rude")).to_contain_text("Hidden")
    room.moderate(room.host, "something rude", "Show again")
    room.ada.expect_comments("a question?", "something rude")

    host.get_by_role("button", name="Pause comments").click()
    expect(room.ada.page.get_by_text("Comments are paused for a moment.")).to_be_visible()
    expect(room.ada.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    room.host.post_comment("back in a minute")
    expect(room.ada.comment("back in a minute")).to_be_visible()
    host.get_by_role("button", name="Resume comments").click()
    expect(room.ada.page.get_by_text("Comments are paused for a moment.")).to_be_hidden()

    slow = host.get_by_role("group", name="Slow mode")
    slow.get_by_role("radio", name="30 s").check()
    expect(room.ada.page.get_by_text("One comment every 30 s")).to_be_visible()
    room.server.advance_clock(30)
    room.ada.post_comment("slowly")
    expect(room.ada.page.get_by_text(re.compile(r"You can send again in \d+ s"))).to_be_visible()
    slow.get_by_role("radio", name="Off").check()
    expect(room.ada.page.get_by_text(re.compile(r"You can send again in \d+ s"))).to_be_hidden()

    host.get_by_label("Word to block").fill("SPAM")
    host.get_by_role("button", name="Block", exact=True).click()
    expect(host.get_by_role("button", name="Unblock “spam”")).to_be_visible()
    room.bo.post_comment("buy spam")
    expect(room.bo.page.get_by_text("Your comment has a word that's blocked in this room.")).to_be_visible()

    room.moderate(room.host, "something rude", "Block sender")
    expect(host.get_by_role("button", name=re.compile("^Unblock(?! “)"))).to_be_visible()
    room.bo.post_comment("me again")
    expect(room.bo.page.get_by_text("The host has blocked you from this room.")).to_be_visible()
    host.get_by_role("button", name=re.compile("^Unblock(?! “)")).first.click()
    log = host.get_by_role("region", name="Log")
    expect(log).to_contain_text("Unblocked a sender")
    more = log.get_by_role("button", name=re.compile("^Show all"))
    if more.count():
        more.click()
    for entry in (
        "Pinned a comment", "Marked as answered", "Hid a comment", "Showed a comment again", "Paused comments",
        "Resumed comments", "Slow mode: 30 seconds", "Slow mode off", "Blocked a word", "Blocked a sender",
    ):  # fmt: skip
        expect(log).to_contain_text(entry)
    room.bo.post_comment("thank you")
    for visitor in room.visitors:
        visitor.expect_comments("a question?", "something rude", "back in a minute", "slowly", "thank you")


def test_a_visitor_who_was_offline_for_a_minute_gets_every_comment(room: RoomBrowsers) -> None:
    join_room(room)
    room.ada.post_comment("before the outage")
    room.bo.expect_comments("before the outage")
    room.bo.go_offline()
    room.bo.page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(room.bo.page.get_by_text("Reconnecting. Your text is safe")).to_be_visible()
    room.bo.page.get_by_label("Comment", exact=True).fill("written offline")
    contents = ["before the outage"]
    for number in range(12):
        (room.ada if number % 2 else room.host).post_comment(f"comment {number}")
        contents.append(f"comment {number}")
        room.host.expect_comments(*contents)
        room.server.advance_clock(5)
    room.bo.go_online()
    expect(room.bo.page.get_by_text("Reconnecting. Your text is safe")).to_be_hidden()
    room.bo.page.get_by_role("button", name="Send", exact=True).click()
    contents.append("written offline")
    for visitor in room.visitors:
        visitor.expect_comments(*contents)


def test_the_invitation_has_the_short_address_and_says_that_phones_cannot_open_loopback(
    server: ServerProcess, room: RoomBrowsers
) -> None:
    page, warning = room.host.page, "Phones can't open this address"
    room.host.context.grant_permissions(["clipboard-read", "clipboard-write"])
    number = re.sub(r"\D", "", page.locator(".code").first.inner_text())
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied").first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{server.url}/l/{number}"
    expect(page.get_by_text(warning)).to_be_visible()
    page.get_by_role("button", name="Show it large").click()
    large = page.get_by_role("dialog")
    assert read_qr_code(large.get_by_role("img")) == f"{server.url}/l/{number}"
    expect(large).to_contain_text(warning)


def test_a_host_who_deletes_the_account_ends_the_room_for_its_audience(room: RoomBrowsers) -> None:
    join_room(room)
    room.ada.post_comment("are you there?")
    expect(room.host.comment("are you there?")).to_be_visible()
    profile = room.host.context.new_page()
    profile.goto(f"{room.server.url}/profile")
    profile.get_by_role("button", name="Delete guest data").click()
    profile.get_by_role("dialog").get_by_role("button", name="Delete everything").click()
    for visitor in (room.ada, room.bo):
        page = visitor.page
        expect(page.get_by_text("This room has ended.").first).to_be_visible()
        expect(page.get_by_text("Its host has deleted their account, and the comments with it.")).to_be_visible()
        expect(page.get_by_role("link", name="All rooms")).to_be_visible()
        expect(page.get_by_role("link", name="Export as CSV")).to_have_count(0)
    expect(room.overlay.locator("#stage .flight")).to_have_count(0)


def download(page: Page, name: str) -> bytes:
    with page.expect_download() as started:
        page.get_by_role("link", name=name).click()
    return Path(started.value.path()).read_bytes()


def test_a_closed_room_is_closed_in_every_browser_and_can_be_searched_and_exported(room: RoomBrowsers) -> None:
    join_room(room)
    code = re.sub(r"\D", "", room.host.page.locator(".code").first.inner_text())
    for number, text in enumerate(("=1+1", "<b>bold</b> 質問", "rude", "last words")):
        room.ada.post_comment(text)
        expect(room.host.comment(text)).to_be_visible()
        room.server.advance_clock(60 * number)
    room.moderate(room.host, "rude", "Hide")
    expect(room.ada.comment("rude")).to_have_count(0)
    room.host.page.get_by_role("button", name="End the room").click()
    room.host.page.get_by_role("dialog").get_by_role("button", name="End it").click()
    for visitor in room.visitors:
        expect(visitor.page.get_by_text("This room has ended.").first).to_be_visible()
        expect(visitor.page.get_by_label("Comment", exact=True)).to_have_count(0)
        expect(visitor.page.get_by_role("slider", name="Timeline")).to_be_visible()
    expect(room.overlay.locator("#stage .flight")).to_have_count(0)

    # The number still leads there.
    page = room.ada.open(f"/l/{code}")
    page.wait_for_url(room.host.page.url)
    page.get_by_role("searchbox", name="Search the comments").fill("BOLD")
    expect(page.locator("mark")).to_have_text("bold")
    expect(page.get_by_text("rude", exact=True)).to_have_count(0)
    host = room.host.page
    rows = list(csv.DictReader(io.StringIO(download(host, "Export as CSV").decode("utf-8-sig"))))
    assert [(row["content"], row["hidden"]) for row in rows] == [
        ("'=1+1", "false"),
        ("<b>bold</b> 質問", "false"),
        ("rude", "true"),
        ("last words", "false"),
    ]
    export = json.loads(download(page, "Export as JSON"))
    assert [it["content"] for it in export["comments"]] == ["=1+1", "<b>bold</b> 質問", "last words"]
    assert export["room"]["status"] == "CLOSED"
    slider = page.get_by_role("slider", name="Timeline")
    slider.press("End")
    expect(page.get_by_text("last words", exact=True).first).to_be_visible()
