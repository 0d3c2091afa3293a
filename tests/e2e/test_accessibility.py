"""axe-core looks at every page, by day and by night, and finds nothing to say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import DESK, PHONE, Visitor
from tests.e2e.server_process import ServerProcess

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
PAGES = [
    *("/", "/sign-in", "/sign-up", "/profile", "/live", "/docs", "/styleguide", "/admin"),
    *("/drawing", "/othello", "/ranking", "/kifu", "/nowhere"),
]


def violations(visitor: Visitor) -> list[str]:
    """What axe-core finds wrong with the page, rule by rule."""
    # Run past the page's own policy, which lets no foreign script in.
    visitor.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = visitor.page.evaluate("axe.run()")
    return [
        f"{rule['id']}: {node['html'][:200]} ({node['failureSummary']})"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


class Talk:
    """A live room in which something happened: a host, somebody in the audience, and what was said and done."""

    def __init__(self, host: Visitor, guest: Visitor) -> None:
        self.host, self.guest = host, guest
        room = self._post(host, "/api/live/rooms", {"name": "Axe"})
        self.path = f"/live/{room['roomId']}"
        pinned, answered, hidden = [self._say(text) for text in ("the slides?", "why types?", "rude")]
        self._act(k="mark", commentId=pinned, mark="PINNED")
        self._act(k="mark", commentId=answered, mark="ANSWERED")
        self._act(k="mark", commentId=hidden, mark="HIDDEN")
        self._act(k="block_word", word="spam")
        self._act(k="block_sender", commentId=hidden)
        self._act(k="pause")
        self._post(host, f"/api{self._room}/comments/{answered}/upvote")

    @property
    def _room(self) -> str:
        return self.path.replace("/live/", "/live/rooms/")

    def _say(self, text: str) -> str:
        return self._post(self.guest, f"/api{self._room}/comments", {"content": text})["commentId"]

    def _act(self, **act: object) -> None:
        self._post(self.host, f"/api{self._room}/acts", act)

    @staticmethod
    def _post(who: Visitor, path: str, body: object = None) -> Any:
        answer = who.context.request.post(f"{who.url}{path}", data=body, headers={"Origin": who.url})
        assert answer.ok, answer.text()
        return answer.json()

    def close(self) -> None:
        """End the talk."""
        self._post(self.host, f"/api{self._room}/close")


def seen(talk: Talk) -> Iterator[tuple[str, Visitor]]:
    """Everything there is to see of a talk: each time, a page is open and as it should be looked at."""
    for who, name in ((talk.host, "host"), (talk.guest, "audience")):
        who.open(talk.path)
        expect(who.page.get_by_role("log").locator(".comment").first).to_be_visible()
        yield name, who
    page = talk.host.page
    tools = page.locator("header .holder > .button")
    expect(page.locator("aside .host").or_(tools.last)).to_be_visible()
    if page.locator("aside .host").count() == 0:
        tools.last.click()
    page.locator(".host summary").click()
    yield "the host's tools", talk.host
    page.locator(".host .buttons [aria-haspopup=dialog]").click()
    expect(page.locator(".host .buttons dialog")).to_be_visible()
    yield "the way in, large", talk.host
    page.keyboard.press("Escape")
    expect(page.locator(".host .buttons dialog")).to_be_hidden()
    page.keyboard.press("Escape")
    row = page.get_by_role("log").locator(".comment").first
    row.hover()
    row.locator(".opener").click()
    expect(page.locator("[popover][role=dialog]")).to_be_visible()
    yield "what can be done with a comment", talk.host
    talk.guest.page.goto(f"{talk.guest.url}{talk.path}/overlay?qr=1")
    expect(talk.guest.page.locator(".pinned-tag")).to_be_visible()
    yield "the overlay", talk.guest
    talk.close()
    for who, name in ((talk.host, "host"), (talk.guest, "audience")):
        who.open(talk.path)
        expect(who.page.get_by_role("log").locator("[data-seq]").first).to_be_visible()
        yield f"{name}, afterwards", who


SCREENS = pytest.mark.parametrize(
    ("language", "screen", "scheme"), [("ja", PHONE, "light"), ("ko", DESK, "dark")], ids=["phone", "desk"]
)


@SCREENS
def test_axe_finds_no_violation_on_any_page(
    browser: Browser, server: ServerProcess, language: str, screen: dict[str, int], scheme: Literal["light", "dark"]
) -> None:
    visitor = Visitor(browser, server.url, screen=screen, language=language, scheme=scheme)
    found: dict[str, list[str]] = {}
    for path in PAGES:
        visitor.open(path)
        expect(visitor.page.locator(".loading:not(.side *)")).to_have_count(0)
        problems = violations(visitor)
        if problems:
            found[path] = problems
    visitor.close()
    assert found == {}


@SCREENS
def test_axe_finds_no_violation_in_a_live_room_whoever_looks_at_it(
    browser: Browser, server: ServerProcess, language: str, screen: dict[str, int], scheme: Literal["light", "dark"]
) -> None:
    host, guest = (
        Visitor(browser, server.url, screen=screen, language=language, scheme=scheme) for _ in ("host", "guest")
    )
    found = {what: problems for what, who in seen(Talk(host, guest)) if (problems := violations(who))}
    host.close()
    guest.close()
    assert found == {}
