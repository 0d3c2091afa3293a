"""axe-core looks at every page, by day and by night, and finds nothing to say."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import DESK, PHONE, Visitor
from tests.e2e.house import House

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


def room_of(visitor: Visitor) -> str:
    """The address of a live room that this visitor opened and said something in."""
    page = visitor.open("/live")
    page.get_by_role("main").get_by_role("textbox").fill("Axe")
    page.keyboard.press("Enter")
    page.wait_for_url("**/live/*")
    page.get_by_role("main").get_by_role("textbox").fill("hello")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text("hello")
    return page.url.removeprefix(visitor.url)


@pytest.mark.parametrize(("language", "screen", "scheme"), [("ja", PHONE, "light"), ("ko", DESK, "dark")])
def test_axe_finds_no_violation_on_any_page(
    browser: Browser, house: House, language: str, screen: dict[str, int], scheme: Literal["light", "dark"]
) -> None:
    visitor = Visitor(browser, house.url, screen=screen, language=language, scheme=scheme)
    found: dict[str, list[str]] = {}
    for path in (*PAGES, room_of(visitor)):
        visitor.open(path)
        expect(visitor.page.locator(".loading:not(.side *)")).to_have_count(0)
        problems = violations(visitor)
        if problems:
            found[path] = problems
    visitor.close()
    assert found == {}
