"""The document that every page is: head, tags for previews and search, and the place where the app unfolds."""

import html
import tomllib
from functools import cache
from pathlib import Path
from string import Template

import msgspec

from zataku.server.pages.languages import Language
from zataku.server.pages.web_build import OVERLAY, WebBuild

HERE = Path(__file__).parent
LOCALES = {"ja": "ja_JP", "ko": "ko_KR", "en": "en_US"}
THEMES = frozenset({"light", "dark"})


class PageText(msgspec.Struct, frozen=True):
    """What a page is called, and a sentence about it."""

    title: str
    about: str


class PageHead(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one document is written from."""

    language: Language
    theme: str | None
    caption: PageText
    url: str
    """The address of the page, with the host that people reach the server by."""
    public_url: str
    modules: tuple[str, ...] = ()
    """What the page will need right after the app itself."""


@cache
def words(language: Language) -> dict[str, str]:
    """Every sentence of the documents in one language."""
    return tomllib.loads((HERE.parent / "texts" / f"{language}.toml").read_text(encoding="utf-8"))


def app_document(build: WebBuild, sheet: PageHead, without_script: str = "") -> str:
    """A page of the app. `without_script` is what people see whose browser runs none."""
    if not build.chunks:
        return _unbuilt(build, sheet)
    plain = without_script or f"<p>{html.escape(words(sheet.language)['needs_javascript'])}</p>"
    body = f'<div id="app"></div>\n<noscript>\n{plain}\n</noscript>'
    return _document(sheet, build.links(*sheet.modules), body)


def overlay_document(build: WebBuild, sheet: PageHead, room_id: str) -> str:
    """What flies over the slides of a live room. It has none of the app in it, and no ground of its own."""
    if OVERLAY not in build.chunks:
        return _unbuilt(build, sheet)
    spoken = {name: text for name, text in words(sheet.language).items() if name.startswith("overlay_")}
    plain = {
        **spoken,
        "language": sheet.language,
        "title": _titled(sheet),
        "room": room_id,
        "public_url": sheet.public_url,
        "needs_javascript": words(sheet.language)["needs_javascript"],
    }
    return _filled("overlay.html", plain, links=build.links(entry=OVERLAY))


def still_document(build: WebBuild, sheet: PageHead, body: str) -> str:
    """A page that is whole as it is."""
    return _document(sheet, build.styles(), body)


def error_body(language: Language, kind: str, mark: str) -> str:
    """What an error page says: `missing`, `refused` or `broken`."""
    spoken = words(language)
    plain = {
        "title": spoken[f"error_{kind}_title"],
        "advice": spoken[f"error_{kind}_advice"],
        "back": spoken["back"],
        "mark": mark,
    }
    return _filled("error.html", plain)


def _unbuilt(build: WebBuild, sheet: PageHead) -> str:
    spoken = words(sheet.language)
    title, advice = html.escape(spoken["unbuilt_title"]), html.escape(spoken["unbuilt_advice"])
    return still_document(build, sheet, f"<main>\n<h1>{title}</h1>\n<p>{advice}</p>\n</main>")


def _document(sheet: PageHead, links: str, body: str) -> str:
    plain = {
        "language": sheet.language,
        "title": _titled(sheet),
        "description": sheet.caption.about,
        "brand": words(sheet.language)["brand"],
        "address": sheet.url,
        "card": f"{sheet.public_url}/static/card.png",
        "locale": LOCALES[sheet.language],
    }
    theme = f' data-theme="{sheet.theme}"' if sheet.theme in THEMES else ""
    return _filled("document.html", plain, theme=theme, links=links, body=body)


def _titled(sheet: PageHead) -> str:
    brand, title = words(sheet.language)["brand"], sheet.caption.title
    return title if brand in title else f"{title} – {brand}"


def _filled(template: str, plain: dict[str, str], **markup: str) -> str:
    """A template with texts, which are escaped, and markup, which is ours. A missing one is an error."""
    return _template(template).substitute(markup, **{name: html.escape(text) for name, text in plain.items()})


@cache
def _template(name: str) -> Template:
    return Template((HERE / "templates" / name).read_text(encoding="utf-8"))
