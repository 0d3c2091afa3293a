"""The document of every page: its title, language and theme, and the files it loads."""

import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import PUBLIC, MakeClient
from zataku.server.app import Application
from zataku.server.pages.document import PageHead, PageText, app_document, load_texts, texts
from zataku.server.pages.languages import LANGUAGES, Language
from zataku.server.pages.page_routes import OWN_PAGES
from zataku.server.pages.web_build import WebBuild
from zataku.server.systems import SYSTEMS

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def meta(self, name: str) -> str | None:
        return next(
            (attributes["content"] for tag, attributes in self.tags if tag == "meta" and name in attributes.values()),
            None,
        )


def page_texts(path: str, language: Language) -> tuple[str, str]:
    """The title and the description of a page."""
    if path in OWN_PAGES:
        own = texts(language)
        return own[f"{OWN_PAGES[path]}_title"], own[f"{OWN_PAGES[path]}_about"]
    system = next(system for system in SYSTEMS if path == f"/{system.name}")
    return load_texts(system.texts, language)["title"], load_texts(system.texts, language)["about"]


@pytest.mark.parametrize("path", [*OWN_PAGES, *(f"/{system.name}" for system in SYSTEMS)])
async def test_every_page_has_a_title_and_a_card_in_three_languages(make_client: MakeClient, path: str) -> None:
    for language in LANGUAGES:
        response = await make_client(**{"accept-language": language}).get(path)
        assert response.status_code == 200
        assert response.headers["content-language"] == language
        assert f'<html lang="{language}">' in response.text
        tags = Tags(response.text)
        title, about = page_texts(path, language)
        assert tags.meta("description") == tags.meta("og:description") == about
        assert title in (tags.meta("og:title") or "")
        assert tags.meta("og:url") == PUBLIC + path
        assert tags.meta("og:image") == f"{PUBLIC}/static/card.png"


async def test_the_language_comes_from_the_query_then_the_cookie_then_the_browser(make_client: MakeClient) -> None:
    browser = make_client(**{"accept-language": "en"})
    assert (await browser.get("/")).headers["content-language"] == "en"
    browser.cookies.set("zataku_language", "ko")
    assert (await browser.get("/")).headers["content-language"] == "ko"
    assert (await browser.get("/?lang=ja")).headers["content-language"] == "ja"


@pytest.mark.parametrize(("cookie", "attribute"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"')])
async def test_the_chosen_theme_is_in_the_document(make_client: MakeClient, cookie: str, attribute: str) -> None:
    browser = make_client()
    browser.cookies.set("zataku_theme", cookie)
    assert f'<html lang="en"{attribute}>' in (await browser.get("/")).text


@pytest.mark.parametrize("cookie", ["none", "auto", '"><script>'])
async def test_an_unknown_theme_is_ignored(make_client: MakeClient, cookie: str) -> None:
    response = await make_client(cookie=f"zataku_theme={cookie}").get("/")
    assert '<html lang="en">' in response.text


async def test_a_page_loads_files_from_this_server_only(browser: httpx.AsyncClient) -> None:
    response = await browser.get("/")
    for tag, attributes in Tags(response.text).tags:
        if tag in {"link", "script", "img"}:
            assert (attributes.get("href") or attributes.get("src") or "").startswith("/")
        assert not any(name.startswith("on") or name == "style" for name in attributes)
    assert not re.search(r"<script(?![^>]* src=)|<style", response.text)
    assert "'unsafe" not in response.headers["content-security-policy"]
    loaded = re.findall(r'(?:href|src)="(/assets/[^"]+)"', response.text)
    # The entry with its imports, the texts of the language, and the page itself; each once.
    expected = ["main-1.css", "shared-1.css", "Page-1.css", "shared-1.js", "ja-1.js", "Page-1.js", "main-1.js"]
    assert loaded == [f"/assets/{name}" for name in expected]


async def test_a_title_is_escaped() -> None:
    evil = '</title><script>alert("1")</script>'
    text = PageText(title=evil, about=evil)
    head = PageHead(language="en", theme=None, text=text, url=PUBLIC, public_url=PUBLIC)
    assert "<script>" not in app_document(WebBuild(), head)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_without_a_build_the_page_says_how_to_make_one(language: Language, tmp_path: Path) -> None:
    head = PageHead(language=language, theme=None, text=PageText("t", "a"), url=PUBLIC, public_url=PUBLIC)
    assert "make setup" in app_document(WebBuild.read(tmp_path), head)


async def test_a_room_has_its_name_as_title_and_an_unknown_one_that_of_the_system(
    browser: httpx.AsyncClient, application: Application
) -> None:
    room = (await browser.post("/api/live/rooms", json={"name": "A <talk>"})).json()
    assert "<title>A &lt;talk&gt; – 座卓</title>" in (await browser.get(f"/live/{room['roomId']}")).text
    assert "<title>ライブ – 座卓</title>" in (await browser.get("/live/nothing-of-that-name")).text


async def test_a_room_code_opens_the_live_page(browser: httpx.AsyncClient) -> None:
    for path in ("/l/482159", "/l/nothing"):
        response = await browser.get(path)
        assert response.status_code == 200
        assert "<title>ライブ – 座卓</title>" in response.text
    assert (await browser.get("/l")).status_code == 404
