"""The pages people open: each is the same app, with a title, a description and the language of whoever looks."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from litestar import HttpMethod, MediaType, Request, Response, route
from litestar.datastructures import State
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from zataku.errors import Problem, RequestError
from zataku.platform.identity import Identity
from zataku.server.http.request_context import request_context
from zataku.server.pages.document import (
    PageHead,
    PageText,
    app_document,
    error_body,
    overlay_document,
    still_document,
    words,
)
from zataku.server.pages.languages import Language, chosen, spoken
from zataku.server.pages.web_build import WebBuild
from zataku.system import Title
from zataku.table import TableError

Asked: TypeAlias = Request[Any, Any, State]
PAGES = {
    "/": "home",
    "/sign-in": "sign_in",
    "/sign-up": "sign_up",
    "/profile": "profile",
    "/styleguide": "styleguide",
    "/docs": "docs",
    "/admin": "admin",
    "/drawing": "drawing",
    "/othello": "othello",
    "/ranking": "ranking",
    "/live": "live",
    "/kifu": "kifu",
}
"""The words that each address is titled with. What lies below a system's address belongs to that system."""


class PageAssets(msgspec.Struct, frozen=True):
    """What documents are written on: the built pages, and the address that people reach them by."""

    build: WebBuild
    public_url: str


def page_routes(paper: PageAssets, titles: Mapping[str, Title]) -> tuple[ControllerRouterHandler, ...]:
    """The handlers of all pages."""

    def sheet_of(request: Asked, name: str, title: str | None) -> PageHead:
        language = language_of(request, request_context(request.scope).identity)
        spoken_of = words(language)
        caption = PageText(title or spoken_of[f"{name}_name"], spoken_of[f"{name}_about"])
        return _sheet(paper, request, language, caption, name.replace("_", ""))

    async def show(request: Asked, name: str, title: str | None = None) -> Response[str]:
        sheet = sheet_of(request, name, title)
        return page(sheet.language, app_document(paper.build, sheet))

    def simple(path: str, name: str) -> ControllerRouterHandler:
        @route(path, http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False, name=f"page {name}")
        async def open_page(request: Asked) -> Response[str]:
            return await show(request, name)

        return open_page

    def within(system: str) -> ControllerRouterHandler:
        @route(
            f"/{system}/{{what:str}}",
            http_method=[HttpMethod.GET, HttpMethod.HEAD],
            include_in_schema=False,
            name=f"page of {system}",
        )
        async def open_inside(request: Asked, what: FromPath[str]) -> Response[str]:
            return await show(request, system, await _titled(titles.get(system), what))

        return open_inside

    @route(
        "/live/{what:str}/overlay",
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        include_in_schema=False,
        name="overlay of live",
    )
    async def open_overlay(request: Asked, what: FromPath[str]) -> Response[str]:
        sheet = sheet_of(request, "live", await _titled(titles.get("live"), what))
        return page(sheet.language, overlay_document(paper.build, sheet, what))

    @route(
        "/l/{code:str}", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False, name="number of live"
    )
    async def open_by_number(request: Asked) -> Response[str]:
        # Short enough to type off a slide. The page itself finds the room, and goes on to its address.
        return await show(request, "live")

    return (*(simple(path, name) for path, name in PAGES.items()), within("live"), open_overlay, open_by_number)


async def _titled(title: Title | None, what: str) -> str | None:
    if title is None:
        return None
    try:
        return await title(what)
    except (RequestError, TableError):
        # The page itself says what is wrong with it, in more words than a title has.
        return None


def error_page(request: Asked, status: int, problem: Problem, headers: Mapping[str, str] | None) -> Response[str]:
    """What a person sees instead of a page. An unknown address is one that the app itself may say more about."""
    paper: PageAssets = request.app.state.paper
    language = language_of(request, None)
    kind = "missing" if status == 404 else "broken" if status >= 500 else "refused"
    reference = problem.details.get("reference")
    mark = f"{words(language)['reference_label']} {reference}" if reference else str(status)
    body = error_body(language, kind, mark)
    caption = PageText(words(language)[f"error_{kind}_title"], words(language)[f"error_{kind}_advice"])
    sheet = _sheet(paper, request, language, caption, "missing")
    whole = status == 404 and paper.build.chunks
    text = app_document(paper.build, sheet, body) if whole else still_document(paper.build, sheet, body)
    return page(language, text, status, headers)


def page(language: Language, text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[str]:
    """An HTML answer that says which language it is in, so that caches keep the three apart."""
    said = {
        "Content-Language": language,
        "Vary": "Accept, Accept-Language, Cookie",
        "Cache-Control": "private, no-cache",
        **(headers or {}),
    }
    return Response(text, status_code=status, media_type=MediaType.HTML, headers=said)


def language_of(request: Asked, identity: Identity | None) -> Language:
    """The language to answer in: `?lang=`, then what the browser was told, then the account, then what it likes."""
    asked = spoken(request.query_params.get("lang")) or spoken(request.cookies.get("zataku_language"))
    known = identity.language if identity is not None and identity.is_stored else None
    return asked or known or chosen(None, request.headers.get("accept-language"))


def _sheet(paper: PageAssets, request: Asked, language: Language, caption: PageText, name: str) -> PageHead:
    return PageHead(
        language=language,
        theme=request.cookies.get("zataku_theme"),
        caption=caption,
        url=paper.public_url + request.scope["path"],
        public_url=paper.public_url,
        modules=(f"src/lib/words/{language}.ts", f"src/pages/{name}/Page.svelte"),
    )
