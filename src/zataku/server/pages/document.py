"""The HTML document of every page: its head with tags for previews and search, and the element of the web app."""

import html
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

import msgspec

from zataku.platform.limits import Language
from zataku.server.pages.languages import LANGUAGES
from zataku.server.pages.web_build import WebBuild
from zataku.system import Document

FOLDER = Path(__file__).parent
TEXTS = FOLDER / "texts.toml"
LOCALES: Mapping[Language, str] = {"ja": "ja_JP", "ko": "ko_KR", "en": "en_US"}
THEMES = frozenset({"light", "dark"})


class PageText(msgspec.Struct, frozen=True):
    """The title of a page, and a sentence about it."""

    title: str
    about: str


class PageHead(msgspec.Struct, frozen=True, kw_only=True):
    """The values in the head of a document."""

    language: Language
    theme: str | None
    text: PageText
    url: str
    """The address of the page, on the public host of the server."""
    public_url: str
    modules: tuple[str, ...] = ()
    """Modules of the web build that the page needs right after the app itself."""


@cache
def load_texts(file: Path, language: Language) -> Mapping[str, str]:
    """The texts of a TOML file in one language. The file has a table for each language, with the same names in all."""
    tables: dict[str, dict[str, str]] = tomllib.loads(file.read_text(encoding="utf-8"))
    names = {tuple(sorted(tables.get(code, {}))) for code in LANGUAGES}
    if len(names) > 1:
        raise ValueError(f"{file} must have the same texts in {', '.join(LANGUAGES)}.")
    return tables[language]


def texts(language: Language) -> Mapping[str, str]:
    """The texts of the server's own pages."""
    return load_texts(TEXTS, language)


def app_document(build: WebBuild, head: PageHead, noscript: str = "") -> str:
    """The document of a page of the web app. `noscript` is shown where scripts are off."""
    if not build.chunks:
        return _unbuilt_document(build, head)
    fallback = noscript or f"<p>{html.escape(texts(head.language)['needs_javascript'])}</p>"
    body = f'<div id="app"></div>\n<noscript>\n{fallback}\n</noscript>'
    return _document(head, build.links(*head.modules), body)


def system_document(
    build: WebBuild, head: PageHead, document: Document, system_texts: Mapping[str, str], parameters: Mapping[str, str]
) -> str:
    """The document of a page that a system has a template for."""
    if document.entry not in build.chunks:
        return _unbuilt_document(build, head)
    values = {
        **system_texts,
        **parameters,
        "language": head.language,
        "title": _full_title(head),
        "public_url": head.public_url,
        "needs_javascript": texts(head.language)["needs_javascript"],
    }
    return _fill(document.template, values, links=build.links(entry=document.entry))


def static_document(build: WebBuild, head: PageHead, body: str) -> str:
    """The document of a page without scripts."""
    return _document(head, build.styles(), body)


def error_body(language: Language, kind: str, reference: str) -> str:
    """The body of an error page; `kind` is `missing`, `refused` or `broken`."""
    sentences = texts(language)
    values = {
        "title": sentences[f"error_{kind}_title"],
        "advice": sentences[f"error_{kind}_advice"],
        "back": sentences["back"],
        "reference": reference,
    }
    return _fill(FOLDER / "templates" / "error.html", values)


def _unbuilt_document(build: WebBuild, head: PageHead) -> str:
    sentences = texts(head.language)
    title, advice = html.escape(sentences["unbuilt_title"]), html.escape(sentences["unbuilt_advice"])
    return static_document(build, head, f"<main>\n<h1>{title}</h1>\n<p>{advice}</p>\n</main>")


def _document(head: PageHead, links: str, body: str) -> str:
    values = {
        "language": head.language,
        "title": _full_title(head),
        "description": head.text.about,
        "brand": texts(head.language)["brand"],
        "address": head.url,
        "card": f"{head.public_url}/static/card.png",
        "locale": LOCALES[head.language],
    }
    theme = f' data-theme="{head.theme}"' if head.theme in THEMES else ""
    return _fill(FOLDER / "templates" / "document.html", values, theme=theme, links=links, body=body)


def _full_title(head: PageHead) -> str:
    brand, title = texts(head.language)["brand"], head.text.title
    return title if brand in title else f"{title} – {brand}"


def _fill(template: Path, values: Mapping[str, str], **markup: str) -> str:
    """A template filled with values, which are escaped, and markup, which is not. A missing one is a KeyError."""
    return _template(template).substitute(markup, **{name: html.escape(text) for name, text in values.items()})


@cache
def _template(file: Path) -> Template:
    return Template(file.read_text(encoding="utf-8"))
