"""The page at the address of the server: what lies on the table, and what already works."""

from functools import cache

from litestar import HttpMethod, Request, Response, route
from litestar.datastructures import State

from zataku.server.languages import Language
from zataku.server.pages import filled, language_of, page


@route("/", http_method=[HttpMethod.GET, HttpMethod.HEAD], sync_to_thread=False)
def start_page(request: Request[object, object, State]) -> Response[str]:
    """Show the table."""
    language = language_of(request)
    return page(language, start_page_in(language))


@cache
def start_page_in(language: Language) -> str:
    """The whole start page in one language."""
    return filled("start.html", language)
