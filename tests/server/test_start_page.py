"""The start page says what is there, to everyone, and loads nothing from elsewhere."""

import re
from html.parser import HTMLParser

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from zataku.server.languages import LANGUAGES, Language
from zataku.server.pages import words

SYSTEMS = ("drawing", "othello", "ranking", "live", "kifu")


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_five_systems_lie_on_the_table_in_every_language(browser: TestClient[Litestar], language: Language):
    answer = browser.get("/", headers={"Accept-Language": language})
    assert answer.status_code == 200
    assert answer.headers["content-language"] == language
    assert f'<html lang="{language}">' in answer.text
    for system in SYSTEMS:
        assert words(language)[f"{system}_name"] in answer.text
    assert answer.text.count(words(language)["soon"]) >= len(SYSTEMS)


def test_the_switch_changes_the_language_and_shows_which_one_it_is(browser: TestClient[Litestar]):
    answer = browser.get("/?lang=ko", headers={"Accept-Language": "ja"})
    current = [at for tag, at in Tags(answer.text).seen if tag == "a" and at.get("aria-current")]
    assert [at["lang"] for at in current] == ["ko"]


def test_caches_keep_the_languages_apart(browser: TestClient[Litestar]):
    assert "Accept-Language" in browser.get("/").headers["vary"]


def test_nothing_in_the_page_needs_an_exception_from_the_policy(browser: TestClient[Litestar]):
    answer = browser.get("/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'")
    assert "unsafe" not in policy
    for tag, attributes in Tags(answer.text).seen:
        assert tag not in {"script", "style"}
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_everything_the_page_loads_is_served_here(browser: TestClient[Litestar]):
    page = browser.get("/").text
    loaded = [at["href"] for tag, at in Tags(page).seen if tag == "link"]
    style = browser.get("/static/start.css")
    loaded += re.findall(r"url\(([^)]+)\)", style.text)
    assert style.headers["content-type"].startswith("text/css")
    for address in loaded:
        assert address is not None
        assert browser.get(address).status_code == 200, address


def test_a_supervisor_is_told_that_all_is_well(browser: TestClient[Litestar]):
    assert browser.get("/healthz").json() == {"status": "ok"}
    assert browser.head("/healthz").status_code == 200
    assert browser.head("/").status_code == 200
