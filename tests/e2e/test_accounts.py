"""Coming in: as a guest, by signing up, by signing in; languages, night, and leaving."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import PHONE, Visitor
from tests.e2e.server_process import ServerProcess


def sign_up(page: Page, name: str, password: str = "correct horse battery") -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Make an account").click()


@pytest.fixture
def visitor(browser: Browser, server: ServerProcess) -> Iterator[Visitor]:
    made = Visitor(browser, server.url)
    yield made
    made.close()


def test_a_guest_is_somebody_at_once_and_stays_the_same(visitor: Visitor) -> None:
    visitor.open("/")
    mark = visitor.cookie("zataku_guest")
    assert mark is not None
    first = visitor.page.evaluate("fetch('/api/me').then(r => r.json())")
    visitor.open("/profile")
    again = visitor.page.evaluate("fetch('/api/me').then(r => r.json())")
    assert first["role"] == "guest"
    assert first["accountId"] == again["accountId"]
    expect(visitor.page.get_by_text("You're here as a guest")).to_be_visible()
    # No script can read the mark.
    assert "zataku_guest" not in visitor.page.evaluate("document.cookie")


def test_somebody_signs_up_signs_out_and_signs_in_again(visitor: Visitor) -> None:
    name = f"hana {uuid4().hex[:6]}"
    page = visitor.open("/live")
    page.get_by_label("Name of the room").fill("Before signing up")
    page.get_by_role("button", name="Open a room").click()
    page.wait_for_url("**/live/*")
    visitor.open("/sign-up")
    sign_up(page, name)
    page.wait_for_url(lambda url: "/sign-up" not in url)
    visitor.open("/profile")
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.get_by_role("button", name="Sign out", exact=True).last.click()
    expect(page.get_by_text("Signed out").first).to_be_visible()
    visitor.open("/sign-in")
    page.get_by_label("Name", exact=True).fill(name.upper())
    page.get_by_label("Password", exact=True).fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("That name and password don't match.")).to_be_visible()
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    # What the guest made is the user's.
    visitor.open("/live")
    expect(page.get_by_text("Before signing up")).to_be_visible()


def test_a_name_that_is_taken_is_said_under_its_field(
    visitor: Visitor, browser: Browser, server: ServerProcess
) -> None:
    name = f"sora {uuid4().hex[:6]}"
    page = visitor.open("/sign-up")
    sign_up(page, name)
    page.wait_for_url(lambda url: "/sign-up" not in url)
    other = Visitor(browser, server.url, screen=PHONE)
    page = other.open("/sign-up")
    sign_up(page, name)
    expect(page.get_by_text("That name is taken. Choose another one.")).to_be_visible()
    sign_up(page, f"{name} 2", "short")
    expect(page.get_by_label("Password", exact=True)).to_have_attribute("aria-invalid", "true")
    other.close()


def test_the_language_follows_the_browser_and_then_the_choice(
    visitor: Visitor, browser: Browser, server: ServerProcess
) -> None:
    japanese = Visitor(browser, server.url, language="ja")
    page = japanese.open("/")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page.get_by_role("heading", level=1)).to_have_text("きょうは、なにで集まろう。")
    japanese.open("/profile")
    page.get_by_label("한국어").first.click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    page = japanese.open("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("오늘은 다 같이 뭐 할까요?")
    assert page.title() == "자타쿠"
    japanese.close()


def test_night_is_chosen_once_and_is_there_before_any_script(visitor: Visitor) -> None:
    page = visitor.open("/profile")
    by_day = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_label("Dark").first.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != by_day
    document = visitor.context.request.get(f"{visitor.url}/").text()
    assert 'data-theme="dark"' in document


def test_signing_out_everywhere_ends_the_other_browser(
    visitor: Visitor, browser: Browser, server: ServerProcess
) -> None:
    name = f"mika {uuid4().hex[:6]}"
    page = visitor.open("/sign-up")
    sign_up(page, name)
    page.wait_for_url(lambda url: "/sign-up" not in url)
    other = Visitor(browser, server.url)
    there = other.open("/sign-in")
    there.get_by_label("Name", exact=True).fill(name)
    there.get_by_label("Password", exact=True).fill("correct horse battery")
    there.get_by_role("button", name="Sign in").click()
    there.wait_for_url(lambda url: "/sign-in" not in url)
    visitor.open("/profile")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_text("Signed out").first).to_be_visible()
    assert other.page.evaluate("fetch('/api/me').then(r => r.json())")["role"] == "guest"
    other.close()


def test_an_account_is_deleted_with_everything_it_owns(visitor: Visitor) -> None:
    name = f"leo {uuid4().hex[:6]}"
    page = visitor.open("/sign-up")
    sign_up(page, name)
    page.wait_for_url(lambda url: "/sign-up" not in url)
    room = page.evaluate(
        "fetch('/api/live/rooms', {method: 'POST', headers: {'content-type': 'application/json'},"
        " body: JSON.stringify({name: 'Goes with me'})}).then(r => r.json())"
    )
    visitor.open("/profile")
    page.get_by_role("button", name="Delete account").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Password").fill("correct horse battery")
    dialog.get_by_role("button", name="Delete everything").click()
    expect(page.get_by_text("Your account is gone.").first).to_be_visible()
    gone = f"fetch('/api/live/rooms/{room['roomId']}').then(r => r.status)"
    page.wait_for_function(f"async () => (await {gone}) === 404")


def test_the_pages_have_titles_and_cards_for_links(server: ServerProcess, visitor: Visitor) -> None:
    document = visitor.context.request.get(f"{server.url}/live?lang=ja").text()
    for wanted in ("<title>", "og:title", "og:image", "og:url", 'lang="ja"'):
        assert wanted in document
    assert "<script>" not in document
