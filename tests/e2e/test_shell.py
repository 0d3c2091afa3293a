"""What every page stands in: keyboard, focus, width, the banner, toasts, and what is fetched when."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

import zataku.server
from tests.e2e.browser import PHONE, Visitor
from tests.e2e.server_process import ServerProcess
from tests.e2e.socket_client import unique_text

WEB = Path(zataku.server.__file__).parent / "web"
PASSWORD = "correct horse battery"
WIDTHS = (320, 390, 768, 1280)
PAGES = [
    *("/", "/sign-in", "/sign-up", "/profile", "/live", "/docs", "/styleguide", "/admin"),
    *("/drawing", "/othello", "/ranking", "/kifu", "/nowhere"),
]


@pytest.fixture
def visitor(browser: Browser, server: ServerProcess) -> Iterator[Visitor]:
    someone = Visitor(browser, server.url)
    yield someone
    someone.close()


def room(page: Page, name: str) -> None:
    """Open a live room and sit in it."""
    page.get_by_label("Name of the room").fill(name)
    page.get_by_role("button", name="Open a room").click()
    page.wait_for_url(re.compile(r"/live/[0-9a-f-]{36}$"))
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()


def tab_to(page: Page, role: str, name: str) -> None:
    """Press Tab until something holds the focus."""
    wanted = page.get_by_role(role, name=name, exact=True)  # pyright: ignore[reportArgumentType]
    for _ in range(40):
        page.keyboard.press("Tab")
        if wanted.evaluate_all("all => all.includes(document.activeElement)"):
            return
    raise AssertionError(f"Tab does not lead to the {role} {name}.")


def chunk(name: str) -> str:
    """The file that a module was built into."""
    return msgspec.json.decode((WEB / ".vite/manifest.json").read_bytes())[name]["file"]


def test_signing_up_by_keyboard_leads_back_to_where_one_was(visitor: Visitor) -> None:
    page = visitor.open("/live")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.reload()
    tab_to(page, "link", "Sign in")
    page.keyboard.press("Enter")
    # The heading of a new page holds the focus, so that it is read out and Tab goes on below it.
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
    room(page, "W" * 100)
    page.get_by_label("Comment", exact=True).fill("w" * 400)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("log")).to_contain_text("w" * 400)
    seated = page.url.removeprefix(visitor.url)
    wide: list[str] = []
    for path in (*PAGES, seated):
        visitor.open(path)
        expect(page.locator(".loading:not(.side *)")).to_have_count(0)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            over = page.evaluate("(scrollTo(1000, 0), scrollX)")
            if over > 0:
                wide.append(f"{path} at {width}: {over} px")
    assert wide == []


def test_the_banner_says_that_the_connection_is_away_and_that_it_is_back(visitor: Visitor) -> None:
    lines: list[WebSocketRoute] = []
    away = False

    def connect(line: WebSocketRoute) -> None:
        if away:
            line.close(code=1001)
            return
        line.connect_to_server()
        lines.append(line)

    visitor.page.route_web_socket(re.compile("/socket$"), connect)
    page = visitor.open("/live")
    room(page, "in a tunnel")
    away = True
    for line in lines:
        line.close(code=1001)
    banner = page.get_by_role("status").filter(has_text="Reconnecting. Your text is safe")
    expect(banner).to_be_visible()
    page.get_by_label("Comment", exact=True).fill("kept")
    away = False
    expect(page.get_by_text("You're back online")).to_be_visible()
    expect(page.get_by_text("You're back online")).to_be_hidden()
    expect(page.get_by_label("Comment", exact=True)).to_have_value("kept")


def test_a_system_is_fetched_once_somebody_goes_there(visitor: Visitor) -> None:
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
    # Who comes there first has it on its way with the document, and the words of their language alone.
    document = visitor.context.request.get(f"{visitor.url}/live?lang=ko").text()
    for wanted in (live, chunk("src/texts/ko.ts")):
        assert f'<link rel="modulepreload" href="/{wanted}">' in document
    assert chunk("src/texts/ja.ts") not in document


def test_a_toast_lies_above_a_dialog_and_can_be_pressed(visitor: Visitor) -> None:
    page = visitor.open("/live")
    room(page, "to be ended")
    page.route("**/close", lambda route: route.fulfill(status=500, json={}))
    page.get_by_role("button", name="End the room").click()
    page.get_by_role("dialog").get_by_role("button", name="End it").click()
    toast = page.get_by_text("Something went wrong.")
    expect(toast).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    # It stays when the dialog goes.
    expect(toast).to_be_visible()
    page.get_by_role("button", name="End the room").click()
    page.get_by_role("button", name="Dismiss").click()
    expect(toast).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_letters_are_counted_as_people_count_them(browser: Browser, server: ServerProcess) -> None:
    visitor = Visitor(browser, server.url, screen=PHONE)
    page = visitor.open("/live")
    name = page.get_by_label("Name of the room")
    name.fill("🍵" * 103)
    expect(page.get_by_text("Make it 3 characters shorter.")).to_be_visible()
    page.get_by_role("button", name="Open a room").click()
    expect(name).to_be_focused()
    assert page.url.endswith("/live")
    room(page, "🍵" * 100)
    expect(page.get_by_role("heading", name="🍵" * 100)).to_be_visible()
    visitor.close()


def test_the_description_says_where_a_key_is_of_use(visitor: Visitor) -> None:
    page = visitor.open("/sign-up")
    page.get_by_label("Name", exact=True).fill(unique_text("key"))
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Make an account").click()
    page.wait_for_url(lambda url: "/sign-up" not in url)
    made = visitor.context.request.post(
        f"{visitor.url}/api/keys",
        headers={"Origin": visitor.url},
        data={"label": "e2e", "scopes": ["live:read"], "password": PASSWORD},
    )
    key = made.json()["key"]
    described = httpx.get(f"{visitor.url}/openapi.json").json()
    taken: dict[str, bool] = {}
    for path, methods in described["paths"].items():
        if "get" not in methods or "{" in path or not path.startswith("/api"):
            continue
        ways = methods["get"].get("security", described["security"])
        taken[path] = any("key" in way for way in ways)
        answer = httpx.get(f"{visitor.url}{path}", headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code != 403) == taken[path], f"{path}: {answer.status_code} {answer.text}"
    assert taken["/api/me"]
    assert not taken["/api/keys"]
    # The page that explains it has a line for a shell, or for the console of a browser.
    visitor.open("/docs#listKeys")
    expect(page.get_by_text("await fetch('/api/keys')")).to_be_visible()
    visitor.open("/docs#liveMyRooms")
    expect(page.get_by_text("Authorization: Bearer zk_")).to_be_visible()
