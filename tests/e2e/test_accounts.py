"""Accounts in the browser: guests, signing up, in and out, the language, the theme, and deletion."""

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
    visitor = Visitor(browser, server.url)
    yield visitor
    visitor.close()


def test_a_guest_has_an_account_at_once_and_keeps_it(visitor: Visitor) -> None:
    visitor.open("/")
    assert visitor.cookie("zataku_guest") is not None
    first = visitor.page.evaluate("fetch('/api/me').then(r => r.json())")
    visitor.open("/profile")
    second = visitor.page.evaluate("fetch('/api/me').then(r => r.json())")
    assert first["role"] == "guest"
    assert first["accountId"] == second["accountId"]
    expect(visitor.page.get_by_text("You're here as a guest")).to_be_visible()
    # No script can read the cookie.
    assert "zataku_guest" not in visitor.page.evaluate("document.cookie")


def test_a_visitor_signs_up_signs_out_and_signs_in_again(visitor: Visitor) -> None:
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
    # The rooms of the guest belong to the user.
    visitor.open("/live")
    expect(page.get_by_text("Before signing up")).to_be_visible()


def test_a_taken_name_and_a_short_password_are_reported_at_their_fields(
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
    sign_up(page, "Admin 1")
    expect(page.get_by_text("This name is reserved. Choose another one.")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
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


def test_the_dark_theme_is_remembered_and_rendered_by_the_server(visitor: Visitor) -> None:
    page = visitor.open("/profile")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_label("Dark").first.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    document = visitor.context.request.get(f"{visitor.url}/").text()
    assert 'data-theme="dark"' in document


def test_signing_out_everywhere_ends_the_session_of_another_browser(
    visitor: Visitor, browser: Browser, server: ServerProcess
) -> None:
    name = f"mika {uuid4().hex[:6]}"
    page = visitor.open("/sign-up")
    sign_up(page, name)
    page.wait_for_url(lambda url: "/sign-up" not in url)
    other = Visitor(browser, server.url)
    other_page = other.open("/sign-in")
    other_page.get_by_label("Name", exact=True).fill(name)
    other_page.get_by_label("Password", exact=True).fill("correct horse battery")
    other_page.get_by_role("button", name="Sign in").click()
    other_page.wait_for_url(lambda url: "/sign-in" not in url)
    visitor.open("/profile")
    page.get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_text("Signed out").first).to_be_visible()
    assert other.page.evaluate("fetch('/api/me').then(r => r.json())")["role"] == "guest"
    other.close()


def test_an_account_is_deleted_with_its_rooms(visitor: Visitor) -> None:
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
    status = f"fetch('/api/live/rooms/{room['roomId']}').then(r => r.status)"
    page.wait_for_function(f"async () => (await {status}) === 404")


def test_a_page_has_a_title_and_a_link_preview(server: ServerProcess, visitor: Visitor) -> None:
    document = visitor.context.request.get(f"{server.url}/live?lang=ja").text()
    for text in ("<title>", "og:title", "og:image", "og:url", 'lang="ja"'):
        assert text in document
    assert "<script>" not in document


def test_each_right_of_an_api_key_says_of_which_system_it_is(visitor: Visitor) -> None:
    page = visitor.open("/sign-up")
    sign_up(page, f"keys {uuid4().hex[:6]}")
    page.wait_for_url(lambda url: "/sign-up" not in url)
    visitor.open("/profile")
    page.get_by_role("button", name="Make a key").click()
    for right in ("Read from Live", "Write to Live", "Read from Kifu"):
        expect(page.get_by_role("checkbox", name=right, exact=True)).to_be_visible()
        expect(page.get_by_text(right, exact=True)).to_be_visible()
    page.get_by_label("Label").fill("for a bot")
    page.get_by_role("checkbox", name="Read from Live", exact=True).check()
    page.get_by_label("Current password").last.fill("correct horse battery")
    page.get_by_role("button", name="Make a key").click()
    expect(page.get_by_role("listitem").filter(has_text="for a bot")).to_contain_text("Read from Live")
