"""The one shape of every error: `{"error": {"code", "message", "details"}}`, or a small page for people."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from math import ceil
from typing import Any, TypeAlias

import msgspec
import structlog
from litestar import MediaType, Request, Response
from litestar.datastructures import State
from litestar.datastructures.headers import Accept
from litestar.exceptions import HTTPException, ValidationException

from zataku.errors import Problem, RateLimited, RequestError
from zataku.server.http.problems import CODES, INVALID, of_table
from zataku.server.http.request_context import request_context
from zataku.table import TableError

log = structlog.stdlib.get_logger()

Asked: TypeAlias = Request[Any, Any, State]
PHRASES = {status.value: status.phrase for status in HTTPStatus}


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error answer."""

    error: Problem


def answer_refusal(request: Asked, exc: RequestError) -> Response[Any]:
    """Answer a request that one of the systems refused."""
    headers = {"Retry-After": str(max(1, ceil(exc.retry_after)))} if isinstance(exc, RateLimited) else {}
    if exc.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return _answer(request, exc.status, exc.problem, headers)


def answer_http(request: Asked, exc: HTTPException) -> Response[Any]:
    """Answer a request that was refused before it reached a system."""
    status = exc.status_code
    if status >= 500:
        return answer_failure(request, exc)
    code, message = INVALID if isinstance(exc, ValidationException) else named(status)
    return _answer(request, status, Problem(code, message, _details(exc)), exc.headers)


def answer_table(request: Asked, exc: TableError) -> Response[Any]:
    """Answer a request that the store did not carry out."""
    refused = of_table(exc)
    if refused is None:
        return answer_failure(request, exc)
    if refused.status >= 500:
        log.warning("store_refused", code=exc.code, message=exc.message)
    return answer_refusal(request, refused)


def answer_failure(request: Asked, exc: Exception) -> Response[Any]:
    """Answer a request that failed through no fault of the caller; the cause goes to the log and nowhere else."""
    status = exc.status_code if isinstance(exc, HTTPException) else 500
    reference = request_context(request.scope).id
    log.error("request_failed", method=request.method, path=request.scope["path"], exc_info=exc)
    return _answer(request, status, Problem(*named(status), {"reference": reference}))


def answer_too_deep(request: Asked, _: RecursionError) -> Response[Any]:
    """Answer a request whose body has more levels than anybody would write."""
    return _answer(request, 400, Problem(*named(400)))


HANDLERS: dict[int | type[Exception], Callable[[Asked, Any], Response[Any]]] = {
    RequestError: answer_refusal,
    TableError: answer_table,
    HTTPException: answer_http,
    RecursionError: answer_too_deep,
    Exception: answer_failure,
}


def named(status: int) -> tuple[str, str]:
    """The code and the sentence of a status."""
    phrase = PHRASES.get(status, "Refused")
    return CODES.get(status, (phrase.lower().replace(" ", "_").replace("-", "_"), f"{phrase}."))


def _details(exc: HTTPException) -> dict[str, Any]:
    match exc.extra:
        case dict(known):
            return {str(name): value for name, value in known.items()}
        case [_, *_] as problems:
            return {"problems": problems}
        case _:
            return {}


def _answer(request: Asked, status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> Response[Any]:
    if _wants_page(request):
        # Pages need templates and words, which a program that asks wrongly does not.
        from zataku.server.pages.page_routes import error_page

        return error_page(request, status, problem, headers)
    return Response(ErrorBody(problem), status_code=status, media_type=MediaType.JSON, headers=dict(headers or {}))


def _wants_page(request: Asked) -> bool:
    if request.scope["path"].startswith("/api/"):
        return False
    # JSON first: a caller that takes anything is a program.
    offered = [MediaType.JSON.value, MediaType.HTML.value]
    return Accept(request.headers.get("accept", "*/*")).best_match(offered) == MediaType.HTML.value
