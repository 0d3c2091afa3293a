"""axe-core finds no violation on any page, in the light and in the dark theme."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import DESK, PAGES, PHONE, Visitor
from tests.e2e.server_process import ServerProcess

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"


def violations(visitor: Visitor) -> list[str]:
    """The violations that axe-core reports on the open page."""
    # Evaluated by the browser: the page's content security policy blocks foreign scripts.
    visitor.page.evaluate(AXE.read_text(encoding="utf-8"))
    report = visitor.page.evaluate("axe.run()")
    return [
        f"{rule['id']}: {node['html'][:200]} ({node['failureSummary']})"
        for rule in report["violations"]
        for node in rule["nodes"]
    ]


class ModeratedRoom:
    """A live room with its host, a guest, comments of the guest, and actions of the host."""

    def __init__(self, host: Visitor, guest: Visitor) -> None:
        self.host, self.guest = host, guest
        room = self._post(host, "/api/live/rooms", {"name": "Axe"})
        self.path = f"/live/{room['roomId']}"
        pinned, answered, hidden = [self._post_comment(text) for text in ("the slides?", "why types?", "rude")]
        self._moderate(k="mark", commentId=pinned, mark="PINNED")
        self._moderate(k="mark", commentId=answered, mark="ANSWERED")
        self._moderate(k="mark", commentId=hidden, mark="HIDDEN")
        self._moderate(k="block_word", word="spam")
        self._moderate(k="block_sender", commentId=hidden)
        self._moderate(k="pause")
        self._post(host, f"/api{self._api_path}/comments/{answered}/upvote")

    @property
    def _api_path(self) -> str:
        return self.path.replace("/live/", "/live/rooms/")

    def _post_comment(self, text: str) -> str:
        return self._post(self.guest, f"/api{self._api_path}/comments", {"content": text})["commentId"]

    def _moderate(self, **action: object) -> None:
        self._post(self.host, f"/api{self._api_path}/acts", action)

    @staticmethod
    def _post(visitor: Visitor, path: str, body: object = None) -> Any:
        response = visitor.context.request.post(f"{visitor.url}{path}", data=body, headers={"Origin": visitor.url})
        assert response.ok, response.text()
        return response.json()

    def close(self) -> None:
        """Close the room."""
        self._post(self.host, f"/api{self._api_path}/close")


def views(room: ModeratedRoom) -> Iterator[tuple[str, Visitor]]:
    """Every view of a room by name, with the visitor whose browser shows it."""
    for visitor, name in ((room.host, "host"), (room.guest, "audience")):
        visitor.open(room.path)
        expect(visitor.page.get_by_role("log").locator(".comment").first).to_be_visible()
        yield name, visitor
    page = room.host.page
    tools = page.locator("header .holder > .button")
    expect(page.locator("aside .host").or_(tools.last)).to_be_visible()
    if page.locator("aside .host").count() == 0:
        tools.last.click()
    page.locator(".host summary").click()
    yield "the host's tools", room.host
    page.locator(".host .buttons [aria-haspopup=dialog]").click()
    expect(page.locator(".host .buttons dialog")).to_be_visible()
    yield "the enlarged QR code", room.host
    page.keyboard.press("Escape")
    expect(page.locator(".host .buttons dialog")).to_be_hidden()
    page.keyboard.press("Escape")
    row = page.get_by_role("log").locator(".comment").first
    row.hover()
    row.locator(".opener").click()
    expect(page.locator("[popover][role=dialog]")).to_be_visible()
    yield "the menu of a comment", room.host
    room.guest.page.goto(f"{room.guest.url}{room.path}/overlay?qr=1")
    expect(room.guest.page.locator(".pinned-tag")).to_be_visible()
    yield "the overlay", room.guest
    room.close()
    for visitor, name in ((room.host, "host"), (room.guest, "audience")):
        visitor.open(room.path)
        expect(visitor.page.get_by_role("log").locator("[data-seq]").first).to_be_visible()
        yield f"{name}, after the close", visitor


SCREENS = pytest.mark.parametrize(
    ("language", "screen", "scheme"), [("ja", PHONE, "light"), ("ko", DESK, "dark")], ids=["phone", "desk"]
)


@SCREENS
def test_axe_finds_no_violation_on_any_page(
    browser: Browser, server: ServerProcess, language: str, screen: dict[str, int], scheme: Literal["light", "dark"]
) -> None:
    visitor = Visitor(browser, server.url, screen=screen, language=language, scheme=scheme)
    problems_by_page: dict[str, list[str]] = {}
    for path in PAGES:
        visitor.open(path)
        expect(visitor.page.locator(".loading:not(.side *)")).to_have_count(0)
        problems = violations(visitor)
        if problems:
            problems_by_page[path] = problems
    visitor.close()
    assert problems_by_page == {}


@SCREENS
def test_axe_finds_no_violation_in_a_live_room_of_host_and_audience(
    browser: Browser, server: ServerProcess, language: str, screen: dict[str, int], scheme: Literal["light", "dark"]
) -> None:
    host, guest = (
        Visitor(browser, server.url, screen=screen, language=language, scheme=scheme) for _ in ("host", "guest")
    )
    problems_by_view = {
        name: problems for name, visitor in views(ModeratedRoom(host, guest)) if (problems := violations(visitor))
    }
    host.close()
    guest.close()
    assert problems_by_view == {}
