"""The routes of all pages: each is the same web app, with a title, a description and a language."""

import re
from collections.abc import Mapping, Sequence

import msgspec
from litestar import HttpMethod, MediaType, Response, route
from litestar.types import ControllerRouterHandler

from zataku.accounts.cookies import LANGUAGE
from zataku.accounts.route_access import ANY_CALLER
from zataku.errors import Problem, RequestError
from zataku.platform.identity import Identity
from zataku.platform.limits import Language
from zataku.server.http.errors import AnyRequest
from zataku.server.http.request_context import request_context
from zataku.server.pages.document import (
    PageHead,
    PageText,
    app_document,
    error_body,
    load_texts,
    static_document,
    system_document,
    texts,
)
from zataku.server.pages.languages import choose_language, parse_language
from zataku.server.pages.web_build import WebBuild
from zataku.system import Page, PageTitle, Plugin, System
from zataku.table import TableError

OWN_PAGES = {
    "/": "home",
    "/sign-in": "sign_in",
    "/sign-up": "sign_up",
    "/profile": "profile",
    "/styleguide": "styleguide",
    "/docs": "docs",
    "/admin": "admin",
}
"""The pages of the server itself, and the names of their texts."""
ENTRANCE_PAGE = "src/pages/entrance/Page.svelte"


class PageAssets(msgspec.Struct, frozen=True):
    """What every document is made from: the web build, and the public address of the server."""

    build: WebBuild
    public_url: str


def page_routes(
    assets: PageAssets, systems: Sequence[System], plugins: Mapping[str, Plugin]
) -> tuple[ControllerRouterHandler, ...]:
    """The routes of the server's own pages and of those of the systems."""
    return (
        *(_own_page(assets, path, name) for path, name in OWN_PAGES.items()),
        *(
            _system_page(assets, system, page, plugins[system.name].page_title)
            for system in systems
            for page in system.pages
        ),
    )


def _own_page(assets: PageAssets, path: str, name: str) -> ControllerRouterHandler:
    @route(
        path,
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        include_in_schema=False,
        name=f"page {path}",
        opt=ANY_CALLER.opt,
    )
    async def open_page(request: AnyRequest) -> Response[str]:
        language = request_language(request, request_context(request.scope).identity)
        text = PageText(texts(language)[f"{name}_title"], texts(language)[f"{name}_about"])
        head = _page_head(assets, request, language, text, name.replace("_", ""))
        return html_response(language, app_document(assets.build, head))

    return open_page


def _system_page(
    assets: PageAssets, system: System, page: Page, page_title: PageTitle | None
) -> ControllerRouterHandler:
    @route(
        re.sub(r"\{(\w+)\}", r"{\1:str}", page.path),
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        include_in_schema=False,
        name=f"page {page.path}",
        opt=ANY_CALLER.opt,
    )
    async def open_system_page(request: AnyRequest) -> Response[str]:
        language = request_language(request, request_context(request.scope).identity)
        system_texts = load_texts(system.texts, language)
        parameters = {name: str(value) for name, value in request.path_params.items()}
        title = None
        if page_title is not None and page.title_from is not None:
            title = await _title_or_none(page_title, parameters[page.title_from])
        text = PageText(title or system_texts["title"], system_texts["about"])
        head = _page_head(assets, request, language, text, page.component)
        if page.document is None:
            return html_response(language, app_document(assets.build, head))
        document = system_document(assets.build, head, page.document, system_texts, parameters)
        return html_response(language, document)

    return open_system_page


async def _title_or_none(page_title: PageTitle, object_id: str) -> str | None:
    try:
        return await page_title(object_id)
    except (RequestError, TableError):
        # The page itself shows the error, at more length than a title can.
        return None


def error_page(request: AnyRequest, status: int, problem: Problem, headers: Mapping[str, str] | None) -> Response[str]:
    """The page of an error. For an unknown path it is the web app, which may show more."""
    assets: PageAssets = request.app.state.page_assets
    language = request_language(request, None)
    sentences = texts(language)
    kind = "missing" if status == 404 else "broken" if status >= 500 else "refused"
    request_id = problem.details.get("reference")
    reference = f"{sentences['reference_label']} {request_id}" if request_id else str(status)
    body = error_body(language, kind, reference)
    text = PageText(sentences[f"error_{kind}_title"], sentences[f"error_{kind}_advice"])
    head = _page_head(assets, request, language, text, "missing")
    if status == 404 and assets.build.chunks:
        return html_response(language, app_document(assets.build, head, body), status, headers)
    return html_response(language, static_document(assets.build, head, body), status, headers)


def html_response(
    language: Language, document: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[str]:
    """An HTML response, with headers for caches: it depends on language and cookies."""
    all_headers = {
        "Content-Language": language,
        "Vary": "Accept, Accept-Language, Cookie",
        "Cache-Control": "private, no-cache",
        **(headers or {}),
    }
    return Response(document, status_code=status, media_type=MediaType.HTML, headers=all_headers)


def request_language(request: AnyRequest, identity: Identity | None) -> Language:
    """The language of the response: of `?lang=`, else of the cookie, the account, or the browser's preferences."""
    requested = parse_language(request.query_params.get("lang")) or parse_language(request.cookies.get(LANGUAGE))
    account = identity.language if identity is not None and identity.is_stored else None
    return requested or account or choose_language(None, request.headers.get("accept-language"))


def _page_head(assets: PageAssets, request: AnyRequest, language: Language, text: PageText, component: str) -> PageHead:
    return PageHead(
        language=language,
        theme=request.cookies.get("zataku_theme"),
        text=text,
        url=assets.public_url + request.scope["path"],
        public_url=assets.public_url,
        modules=(f"src/texts/{language}.ts", _page_module(assets.build, component)),
    )


def _page_module(build: WebBuild, component: str) -> str:
    """The module of a page; a system without a page of its own is shown by the generic entrance."""
    module = f"src/pages/{component}/Page.svelte"
    return module if module in build.chunks else ENTRANCE_PAGE
