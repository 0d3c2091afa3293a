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
    server = start_embedded_server(tmp_path_factory.mktemp("talks"))
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

    def reads(self, *texts: str) -> None:
        """The log shows exactly these comments, in this order."""
        expect(self.page.get_by_role("log").locator(".comment .text")).to_have_text(list(texts))

    def go_offline(self) -> None:
        """Close the socket, and every further one."""
        self._is_offline = True
        for line in self._sockets:
            line.close(code=1001)
        self._sockets.clear()

    def go_online(self) -> None:
        """Let the next socket connect, and tell the page as a browser does, so that it need not wait for its timer."""
        self._is_offline = False
        self.page.evaluate("window.dispatchEvent(new Event('online'))")

    def _connect(self, line: WebSocketRoute) -> None:
        if self._is_offline:
            line.close(code=1001)
            return
        line.connect_to_server()
        self._sockets.append(line)


class Talk:
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

    def act(self, visitor: RoomVisitor, text: str, name: str) -> None:
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
def talk(browser: Browser, server: ServerProcess) -> Iterator[Talk]:
    talk = Talk(browser, server)
    yield talk
    talk.close()


def flying(overlay: Page, text: str) -> Locator:
    """A comment on the overlay, wherever it is shown there."""
    return overlay.locator("#stage").get_by_text(text, exact=True)


def come_in(talk: Talk) -> None:
    """One phone points its camera at the code, the other types the number."""
    host = talk.host.page
    link = read_qr_code(host.get_by_role("img", name=re.compile("QR")))
    # It still leads there when the room is over and its number is another's.
    assert link == host.url
    talk.ada.page.goto(link)
    number = re.sub(r"\D", "", host.locator(".code").first.inner_text())
    assert re.fullmatch(r"[1-9]\d{5}", number)
    page = talk.bo.open("/live")
    page.get_by_label("Room number").fill(number)
    page.wait_for_url(host.url)
    for visitor in (talk.ada, talk.bo):
        expect(visitor.page.get_by_role("heading", name="型の話をしよう <b>")).to_be_visible()
        expect(visitor.page.get_by_text(re.compile(r"^[34] here$"))).to_be_visible()


def test_a_talk_is_opened_joined_commented_and_flies_over_the_slides(talk: Talk) -> None:
    come_in(talk)
    talk.ada.page.get_by_role("button", name="Change name").click()
    talk.ada.page.get_by_label("Nickname").fill("Ada")
    talk.ada.page.get_by_role("button", name="Use it").click()
    talk.ada.post_comment("why is <i>this</i> typed?")
    expect(flying(talk.overlay, "why is <i>this</i> typed?")).to_be_visible()
    talk.bo.post_comment("こんにちは")
    talk.host.post_comment("welcome 👋")
    for visitor in talk.visitors:
        visitor.reads("why is <i>this</i> typed?", "こんにちは", "welcome 👋")
        expect(visitor.comment("why is <i>this</i> typed?")).to_contain_text("Ada")
        expect(visitor.comment("こんにちは")).to_contain_text("Anonymous")

    # Reactions and upvotes.
    talk.bo.comment("why is <i>this</i> typed?").get_by_role("button", name=re.compile("^Upvote")).click()
    for visitor in talk.visitors:
        expect(visitor.comment("why is <i>this</i> typed?").get_by_role("button", name="Upvote +1")).to_be_visible()
    talk.ada.page.get_by_role("button", name="Clap").click()
    expect(talk.overlay.locator("#stage .tags")).to_contain_text("Clap")

    # What one wrote can be taken back.
    talk.bo.post_comment("oops")
    expect(talk.host.comment("oops")).to_be_visible()
    talk.bo.comment("oops").get_by_role("button", name=re.compile("Take back")).click()
    for visitor in talk.visitors:
        expect(visitor.comment("oops")).to_have_count(0)


def test_the_host_moderates_and_every_act_is_in_the_log(talk: Talk) -> None:
    come_in(talk)
    talk.ada.post_comment("a question?")
    talk.bo.post_comment("something rude")
    host = talk.host.page
    expect(talk.host.comment("something rude")).to_be_visible()

    talk.act(talk.host, "a question?", "Pin")
    for page in (talk.ada.page, talk.bo.page, talk.overlay):
        expect(page.locator(".pinned, .pinned-tag").get_by_text("a question?", exact=True).first).to_be_visible()
    talk.act(talk.host, "a question?", "Mark answered")
    expect(talk.bo.comment("a question?")).to_contain_text("Answered")

    talk.act(talk.host, "something rude", "Hide")
    for visitor in (talk.ada, talk.bo):
        expect(visitor.comment("something rude")).to_have_count(0)
    expect(flying(talk.overlay, "something rude")).to_have_count(0)
    expect(talk.host.comment("something rude")).to_contain_text("Hidden")
    talk.act(talk.host, "something rude", "Show again")
    talk.ada.reads("a question?", "something rude")

    host.get_by_role("button", name="Pause comments").click()
    expect(talk.ada.page.get_by_text("Comments are paused for a moment.")).to_be_visible()
    expect(talk.ada.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    host.get_by_role("button", name="Resume comments").click()
    expect(talk.ada.page.get_by_text("Comments are paused for a moment.")).to_be_hidden()

    slow = host.get_by_role("group", name="Slow mode")
    slow.get_by_role("radio", name="30 s").check()
    expect(talk.ada.page.get_by_text("One comment every 30 s")).to_be_visible()
    talk.server.advance_clock(30)
    talk.ada.post_comment("slowly")
    expect(talk.ada.page.get_by_text(re.compile(r"You can send again in \d+ s"))).to_be_visible()
    slow.get_by_role("radio", name="Off").check()
    expect(talk.ada.page.get_by_text(re.compile(r"You can send again in \d+ s"))).to_be_hidden()

    host.get_by_label("Word to block").fill("SPAM")
    host.get_by_role("button", name="Block", exact=True).click()
    expect(host.get_by_role("button", name="Unblock “spam”")).to_be_visible()
    talk.bo.post_comment("buy spam")
    expect(talk.bo.page.get_by_text("Your comment has a word that's blocked in this room.")).to_be_visible()

    talk.act(talk.host, "something rude", "Block sender")
    expect(host.get_by_role("button", name=re.compile("^Unblock(?! “)"))).to_be_visible()
    talk.bo.post_comment("me again")
    expect(talk.bo.page.get_by_text("The host has blocked you from this room.")).to_be_visible()
    host.get_by_role("button", name=re.compile("^Unblock(?! “)")).first.click()
    log = host.get_by_role("region", name="Log")
    expect(log).to_contain_text("Unblocked a sender")
    more = log.get_by_role("button", name=re.compile("^Show all"))
    if more.count():
        more.click()
    for did in (
        "Pinned a comment", "Marked as answered", "Hid a comment", "Showed a comment again", "Paused comments",
        "Resumed comments", "Slow mode: 30 seconds", "Slow mode off", "Blocked a word", "Blocked a sender",
    ):  # fmt: skip
        expect(log).to_contain_text(did)
    talk.bo.post_comment("thank you")
    for visitor in talk.visitors:
        visitor.reads("a question?", "something rude", "slowly", "thank you")


def test_whoever_was_in_a_tunnel_for_a_minute_reads_the_same_as_everybody(talk: Talk) -> None:
    come_in(talk)
    talk.ada.post_comment("before the tunnel")
    talk.bo.reads("before the tunnel")
    talk.bo.go_offline()
    expect(talk.bo.page.get_by_text("Reconnecting. Your text is safe")).to_be_visible()
    talk.bo.page.get_by_label("Comment", exact=True).fill("written in the dark")
    said = ["before the tunnel"]
    for number in range(12):
        (talk.ada if number % 2 else talk.host).post_comment(f"meanwhile {number}")
        said.append(f"meanwhile {number}")
        talk.host.reads(*said)
        talk.server.advance_clock(5)
    talk.bo.go_online()
    expect(talk.bo.page.get_by_text("Reconnecting. Your text is safe")).to_be_hidden()
    talk.bo.page.get_by_role("button", name="Send", exact=True).click()
    said.append("written in the dark")
    for visitor in talk.visitors:
        visitor.reads(*said)


def exported(page: Page, name: str) -> bytes:
    with page.expect_download() as loading:
        page.get_by_role("link", name=name).click()
    return Path(loading.value.path()).read_bytes()


def test_a_room_ends_for_everybody_at_once_and_what_was_said_can_be_looked_through_and_taken_along(talk: Talk) -> None:
    come_in(talk)
    for number, text in enumerate(("=1+1", "<b>bold</b> 質問", "rude", "last words")):
        talk.ada.post_comment(text)
        expect(talk.host.comment(text)).to_be_visible()
        talk.server.advance_clock(60 * number)
    talk.act(talk.host, "rude", "Hide")
    expect(talk.ada.comment("rude")).to_have_count(0)
    talk.host.page.get_by_role("button", name="End the room").click()
    talk.host.page.get_by_role("dialog").get_by_role("button", name="End it").click()
    for visitor in talk.visitors:
        expect(visitor.page.get_by_text("This room has ended.").first).to_be_visible()
        expect(visitor.page.get_by_label("Comment", exact=True)).to_have_count(0)
        expect(visitor.page.get_by_role("slider", name="Timeline")).to_be_visible()
    expect(talk.overlay.locator("#stage .flight")).to_have_count(0)

    page = talk.ada.page
    page.get_by_role("searchbox", name="Search the comments").fill("BOLD")
    expect(page.locator("mark")).to_have_text("bold")
    expect(page.get_by_text("rude", exact=True)).to_have_count(0)
    host = talk.host.page
    rows = list(csv.DictReader(io.StringIO(exported(host, "Export as CSV").decode("utf-8-sig"))))
    assert [(row["content"], row["hidden"]) for row in rows] == [
        ("'=1+1", "false"),
        ("<b>bold</b> 質問", "false"),
        ("rude", "true"),
        ("last words", "false"),
    ]
    taken = json.loads(exported(page, "Export as JSON"))
    assert [it["content"] for it in taken["comments"]] == ["=1+1", "<b>bold</b> 質問", "last words"]
    assert taken["room"]["status"] == "CLOSED"
    slider = page.get_by_role("slider", name="Timeline")
    slider.press("End")
    expect(page.get_by_text("last words", exact=True).first).to_be_visible()
