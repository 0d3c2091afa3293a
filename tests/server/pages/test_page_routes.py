"""Every page is one document: titled, in the reader's language and theme, and it loads nothing from elsewhere."""

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
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def meta(self, name: str) -> str | None:
        return next((at["content"] for tag, at in self.seen if tag == "meta" and name in at.values()), None)


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
        answer = await make_client(**{"accept-language": language}).get(path)
        assert answer.status_code == 200
        assert answer.headers["content-language"] == language
        assert f'<html lang="{language}">' in answer.text
        tags = Tags(answer.text)
        title, about = page_texts(path, language)
        assert tags.meta("description") == tags.meta("og:description") == about
        assert title in (tags.meta("og:title") or "")
        assert tags.meta("og:url") == PUBLIC + path
        assert tags.meta("og:image") == f"{PUBLIC}/static/card.png"


async def test_the_language_is_asked_for_by_name_then_by_cookie_then_by_the_browser(make_client: MakeClient) -> None:
    browser = make_client(**{"accept-language": "en"})
    assert (await browser.get("/")).headers["content-language"] == "en"
    browser.cookies.set("zataku_language", "ko")
    assert (await browser.get("/")).headers["content-language"] == "ko"
    assert (await browser.get("/?lang=ja")).headers["content-language"] == "ja"


@pytest.mark.parametrize(("cookie", "attribute"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"')])
async def test_the_theme_that_was_chosen_is_there_from_the_first_moment(
    make_client: MakeClient, cookie: str, attribute: str
) -> None:
    browser = make_client()
    browser.cookies.set("zataku_theme", cookie)
    assert f'<html lang="en"{attribute}>' in (await browser.get("/")).text


@pytest.mark.parametrize("cookie", ["none", "auto", '"><script>'])
async def test_a_theme_that_is_none_of_ours_is_not_written(make_client: MakeClient, cookie: str) -> None:
    answer = await make_client(cookie=f"zataku_theme={cookie}").get("/")
    assert '<html lang="en">' in answer.text


async def test_a_page_loads_what_it_needs_from_this_server_alone(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/")
    for tag, at in Tags(answer.text).seen:
        if tag in {"link", "script", "img"}:
            assert (at.get("href") or at.get("src") or "").startswith("/")
        assert not any(name.startswith("on") or name == "style" for name in at)
    assert not re.search(r"<script(?![^>]* src=)|<style", answer.text)
    assert "'unsafe" not in answer.headers["content-security-policy"]
    loaded = re.findall(r'(?:href|src)="(/assets/[^"]+)"', answer.text)
    # The entry with what it imports, the words of the language, and the page itself; each once.
    wanted = ["main-1.css", "shared-1.css", "Page-1.css", "shared-1.js", "ja-1.js", "Page-1.js", "main-1.js"]
    assert loaded == [f"/assets/{name}" for name in wanted]


async def test_what_people_write_cannot_break_out_of_a_title() -> None:
    evil = '</title><script>alert("1")</script>'
    text = PageText(title=evil, about=evil)
    head = PageHead(language="en", theme=None, text=text, url=PUBLIC, public_url=PUBLIC)
    assert "<script>" not in app_document(WebBuild(), head)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_without_a_build_the_host_reads_what_to_do(language: Language, tmp_path: Path) -> None:
    head = PageHead(language=language, theme=None, text=PageText("t", "a"), url=PUBLIC, public_url=PUBLIC)
    assert "make setup" in app_document(WebBuild.read(tmp_path), head)


async def test_a_room_is_titled_by_its_name_and_an_unknown_one_like_all_rooms(
    browser: httpx.AsyncClient, application: Application
) -> None:
    made = (await browser.post("/api/live/rooms", json={"name": "A <talk>"})).json()
    assert "<title>A &lt;talk&gt; – 座卓</title>" in (await browser.get(f"/live/{made['roomId']}")).text
    assert "<title>ライブ – 座卓</title>" in (await browser.get("/live/nothing-of-that-name")).text


async def test_a_number_leads_to_the_pages_of_live_rooms(browser: httpx.AsyncClient) -> None:
    for path in ("/l/482159", "/l/nothing"):
        answer = await browser.get(path)
        assert answer.status_code == 200
        assert "<title>ライブ – 座卓</title>" in answer.text
    assert (await browser.get("/l")).status_code == 404


async def test_scripts_are_kept_for_ever_and_come_as_small_as_the_browser_takes_them(make_client: MakeClient) -> None:
    plain, zipped, best = [
        await make_client(**{"accept-encoding": accepted}).get("/assets/main-1.js")
        for accepted in ("identity", "gzip", "gzip, deflate, br, zstd")
    ]
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert zipped.content == plain.content
    assert best.headers["content-encoding"] == "br"
    assert all(answer.headers["vary"] == "Accept-Encoding" for answer in (plain, zipped, best))
    refused = await make_client(**{"accept-encoding": "br;q=0, gzip"}).get("/assets/main-1.js")
    assert refused.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/favicon.svg", "image/svg+xml"),
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/static/card.png", "image/png"),
    ],
)
async def test_files_around_the_pages_are_there_and_make_nobody_a_guest(
    make_client: MakeClient, path: str, kind: str
) -> None:
    answer = await make_client().get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind
    assert "set-cookie" not in answer.headers


async def test_pages_are_compressed_on_their_way(make_client: MakeClient) -> None:
    for refusing in ("gzip;q=0", "identity", "br"):
        assert "content-encoding" not in (await make_client(**{"accept-encoding": refusing}).get("/")).headers
    answer = await make_client(**{"accept-encoding": "gzip"}).get("/")
    assert answer.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["vary"]
    assert "</html>" in answer.text
    assert "content-encoding" not in (await make_client(**{"accept-encoding": "gzip"}).get("/api/me")).headers
    assert "content-encoding" not in (await make_client(**{"accept-encoding": "identity"}).get("/")).headers
