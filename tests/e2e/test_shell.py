"""The shell of every page: keyboard, focus, width, the connection banner, toasts, and lazy loading."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

import zataku.server
from tests.e2e.browser import PAGES, PHONE, Visitor
from tests.e2e.server_process import ServerProcess
from tests.e2e.socket_client import unique_text

WEB = Path(zataku.server.__file__).parent / "web"
PASSWORD = "correct horse battery"
WIDTHS = (320, 390, 768, 1280)


@pytest.fixture
def visitor(browser: Browser, server: ServerProcess) -> Iterator[Visitor]:
    visitor = Visitor(browser, server.url)
    yield visitor
    visitor.close()


def open_room(page: Page, name: str) -> None:
    """Open a live room and join it."""
    page.get_by_label("Name of the room").fill(name)
    page.get_by_role("button", name="Open a room").click()
    page.wait_for_url(re.compile(r"/live/[0-9a-f-]{36}$"))
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()


def tab_to(page: Page, role: str, name: str) -> None:
    """Press Tab until an element has the focus."""
    target = page.get_by_role(role, name=name, exact=True)  # pyright: ignore[reportArgumentType]
    for _ in range(40):
        page.keyboard.press("Tab")
        if target.evaluate_all("all => all.includes(document.activeElement)"):
            return
    raise AssertionError(f"Tab does not lead to the {role} {name}.")


def chunk(name: str) -> str:
    """The file that a module was built into."""
    return msgspec.json.decode((WEB / ".vite/manifest.json").read_bytes())[name]["file"]


def test_signing_up_by_keyboard_returns_to_the_previous_page(visitor: Visitor) -> None:
    page = visitor.open("/live")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.reload()
    tab_to(page, "link", "Sign in")
    page.keyboard.press("Enter")
    # The heading of a new page gets the focus, so that it is read out and Tab continues below it.
    expect(page.get_by_role("heading", name="Welcome back.")).to_be_focused()
    tab_to(page, "link", "Make an account")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    tab_to(page, "textbox", "Name")
    page.keyboard.type(unique_text("ran"))
    tab_to(page, "textbox", "Password")
    page.keyboard.type("short")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    page.keyboard.type(" is not this one")
    page.keyboard.press("Enter")
    page.wait_for_url("**/live")
    expect(page.get_by_text("Welcome, ran")).to_be_visible()


def test_nothing_scrolls_sideways_on_any_screen(visitor: Visitor) -> None:
    page = visitor.open("/live")
    open_room(page, "W" * 100)
    page.get_by_label("Comment", exact=True).fill("w" * 400)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("log")).to_contain_text("w" * 400)
    room_path = page.url.removeprefix(visitor.url)
    overflows: list[str] = []
    for path in (*PAGES, room_path):
        visitor.open(path)
        expect(page.locator(".loading:not(.side *)")).to_have_count(0)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            overflow = page.evaluate("(scrollTo(1000, 0), scrollX)")
            if overflow > 0:
                overflows.append(f"{path} at {width}: {overflow} px")
    assert overflows == []


def test_the_banner_reports_a_lost_connection_and_its_return(visitor: Visitor) -> None:
    sockets: list[WebSocketRoute] = []
    is_offline = False

    def connect(socket: WebSocketRoute) -> None:
        if is_offline:
            socket.close(code=1001)
            return
        socket.connect_to_server()
        sockets.append(socket)

    visitor.page.route_web_socket(re.compile("/socket$"), connect)
    page = visitor.open("/live")
    open_room(page, "offline")
    is_offline = True
    for socket in sockets:
        socket.close(code=1001)
    banner = page.get_by_role("status").filter(has_text="Reconnecting. Your text is safe")
    expect(banner).to_be_visible()
    page.get_by_label("Comment", exact=True).fill("not sent yet")
    is_offline = False
    expect(page.get_by_text("You're back online")).to_be_visible()
    expect(page.get_by_text("You're back online")).to_be_hidden()
    expect(page.get_by_label("Comment", exact=True)).to_have_value("not sent yet")


def test_a_system_is_fetched_when_its_page_is_opened(visitor: Visitor) -> None:
    fetched: list[str] = []
    visitor.page.on("request", lambda request: fetched.append(request.url.removeprefix(f"{visitor.url}/")))
    page = visitor.open("/")
    page.wait_for_load_state("networkidle")
    live = chunk("src/pages/live/Page.svelte")
    assert chunk("src/pages/home/Page.svelte") in fetched
    assert live not in fetched
    assert chunk("src/components/charts/plot.ts") not in fetched
    page.get_by_role("navigation", name="Places").get_by_role("link", name="Live").first.click()
    expect(page.get_by_role("heading", name="Live", exact=True)).to_be_visible()
    assert live in fetched
    # The document of that page preloads it, with the texts of one language.
    document = visitor.context.request.get(f"{visitor.url}/live?lang=ko").text()
    for file in (live, chunk("src/texts/ko.ts")):
        assert f'<link rel="modulepreload" href="/{file}">' in document
    assert chunk("src/texts/ja.ts") not in document


def test_a_toast_is_shown_above_a_dialog_and_can_be_dismissed(visitor: Visitor) -> None:
    page = visitor.open("/live")
    open_room(page, "to be ended")
    page.route("**/close", lambda route: route.fulfill(status=500, json={}))
    page.get_by_role("button", name="End the room").click()
    page.get_by_role("dialog").get_by_role("button", name="End it").click()
    toast = page.get_by_text("Something went wrong.")
    expect(toast).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    # It stays when the dialog closes.
    expect(toast).to_be_visible()
    page.get_by_role("button", name="End the room").click()
    page.get_by_role("button", name="Dismiss").click()
    expect(toast).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_an_emoji_counts_as_one_character(browser: Browser, server: ServerProcess) -> None:
    visitor = Visitor(browser, server.url, screen=PHONE)
    page = visitor.open("/live")
    name = page.get_by_label("Name of the room")
    name.fill("🍵" * 103)
    expect(page.get_by_text("Make it 3 characters shorter.")).to_be_visible()
    page.get_by_role("button", name="Open a room").click()
    expect(name).to_be_focused()
    assert page.url.endswith("/live")
    open_room(page, "🍵" * 100)
    expect(page.get_by_role("heading", name="🍵" * 100)).to_be_visible()
    visitor.close()


def test_the_openapi_document_says_which_routes_accept_an_api_key(visitor: Visitor) -> None:
    page = visitor.open("/sign-up")
    page.get_by_label("Name", exact=True).fill(unique_text("key"))
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Make an account").click()
    page.wait_for_url(lambda url: "/sign-up" not in url)
    created = visitor.context.request.post(
        f"{visitor.url}/api/keys",
        headers={"Origin": visitor.url},
        data={"label": "e2e", "scopes": ["live:read"], "password": PASSWORD},
    )
    key = created.json()["key"]
    document = httpx.get(f"{visitor.url}/openapi.json").json()
    accepts_key: dict[str, bool] = {}
    for path, methods in document["paths"].items():
        if "get" not in methods or "{" in path or not path.startswith("/api"):
            continue
        schemes = methods["get"].get("security", document["security"])
        accepts_key[path] = any("key" in scheme for scheme in schemes)
        response = httpx.get(f"{visitor.url}{path}", headers={"Authorization": f"Bearer {key}"})
        assert (response.status_code != 403) == accepts_key[path], f"{path}: {response.status_code} {response.text}"
    assert accepts_key["/api/me"]
    assert not accepts_key["/api/keys"]
    # The docs page has an example for a shell, or for the console of a browser.
    visitor.open("/docs#listKeys")
    expect(page.get_by_text("await fetch('/api/keys')")).to_be_visible()
    visitor.open("/docs#liveMyRooms")
    expect(page.get_by_text("Authorization: Bearer zk_")).to_be_visible()
