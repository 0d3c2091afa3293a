"""Error responses: `{"error": {"code", "message", "details"}}` for programs, or an HTML page for browsers."""

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
from litestar.utils.scope.state import ScopeState

from zataku.errors import (
    CHANGED_SINCE,
    INTERNAL_FAILURE,
    OUTCOME_UNKNOWN,
    STORAGE_FULL,
    Conflict,
    InvalidRequest,
    OutcomeUnknown,
    Problem,
    RateLimited,
    RequestError,
    StorageFull,
    Unavailable,
)
from zataku.server.http.request_context import request_context
from zataku.table import (
    BadCursor,
    BadInput,
    ConditionFailed,
    IndexNotReady,
    OutOfBounds,
    ResultUnknown,
    StoreClosed,
    StoreFull,
    StoreUnreachable,
    TableError,
    Throttled,
    TransactionCancelled,
)
from zataku.table import Conflict as TableConflict
from zataku.text import is_utf8

log = structlog.stdlib.get_logger()

AnyRequest: TypeAlias = Request[Any, Any, State]

STATUS_ERRORS = {
    400: ("bad_request", "The request could not be understood. Check its address, headers and body."),
    401: ("unauthorized", "Sign in to do that."),
    403: ("forbidden", "You can't do that here."),
    404: ("not_found", "We couldn't find that."),
    405: ("method_not_allowed", "This address exists, but not for this method."),
    413: ("too_large", "That's too large. Make it smaller."),
    415: ("unsupported_media_type", "Send the body as application/json."),
    429: ("too_many_requests", "That was a bit fast. Try again in a moment."),
    500: ("internal", INTERNAL_FAILURE),
    503: ("unavailable", "Not available right now. Try again in a moment."),
}
"""The code and the sentence of each status, for errors without a sentence of their own."""
VALIDATION_ERROR = ("invalid", "Check what you entered.")
_DISCONNECTED = "client disconnected prematurely"
"""What Litestar says of a client that left before its body had arrived; it has no exception of its own for it."""
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error response."""

    error: Problem


def answer_request_error(request: AnyRequest, exc: RequestError) -> Response[Any]:
    """Answer a request that a system has refused."""
    headers = {"Retry-After": str(max(1, ceil(exc.retry_after)))} if isinstance(exc, RateLimited) else {}
    if exc.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return _answer(request, exc.status, exc.problem, headers)


def answer_http_exception(request: AnyRequest, exc: HTTPException) -> Response[Any]:
    """Answer a request that Litestar has refused before it reached a handler."""
    status = 400 if exc.detail == _DISCONNECTED else exc.status_code
    if status >= 500:
        return answer_failure(request, exc)
    code, message = VALIDATION_ERROR if isinstance(exc, ValidationException) else status_error(status)
    return _answer(request, status, Problem(code, message, _details(exc)), exc.headers)


def answer_table_error(request: AnyRequest, exc: TableError) -> Response[Any]:
    """Answer a request that the store did not carry out."""
    error = request_error_of(exc)
    if error is None:
        return answer_failure(request, exc)
    if error.status >= 500:
        log.warning("store_request_failed", code=exc.code, message=exc.message)
    return answer_request_error(request, error)


def answer_failure(request: AnyRequest, exc: Exception) -> Response[Any]:
    """Answer a request that failed through a fault of the server. Only the log has the cause."""
    status = exc.status_code if isinstance(exc, HTTPException) else 500
    reference = request_context(request.scope).id
    log.error("request_failed", method=request.method, path=request.scope["path"], exc_info=exc)
    return _answer(request, status, Problem(*status_error(status), {"reference": reference}))


def answer_recursion_error(request: AnyRequest, _: RecursionError) -> Response[Any]:
    """Answer a request whose body is nested too deeply to decode."""
    return _answer(request, 400, Problem(*status_error(400)))


def answer_unicode_error(request: AnyRequest, exc: UnicodeDecodeError) -> Response[Any]:
    """Answer a request whose body is not UTF-8. Litestar passes on what msgspec raises for it."""
    body = ScopeState.from_scope(request.scope).body
    # Not the bytes that msgspec names: those are a string of the body without its escapes.
    if isinstance(body, bytes) and not is_utf8(body):
        return _answer(request, 400, Problem(*status_error(400)))
    return answer_failure(request, exc)


HANDLERS: dict[int | type[Exception], Callable[[AnyRequest, Any], Response[Any]]] = {
    RequestError: answer_request_error,
    TableError: answer_table_error,
    HTTPException: answer_http_exception,
    RecursionError: answer_recursion_error,
    UnicodeDecodeError: answer_unicode_error,
    Exception: answer_failure,
}


def status_error(status: int) -> tuple[str, str]:
    """The code and the sentence of a status."""
    phrase = _PHRASES.get(status, "Refused")
    return STATUS_ERRORS.get(status, (phrase.lower().replace(" ", "_").replace("-", "_"), f"{phrase}."))


def request_error_of(error: TableError) -> RequestError | None:
    """The error that a caller gets for a store's error; None for one that is a fault of the server.

    The store's own message stays in the log: it may name tables and keys.
    """
    match error:
        case BadCursor():
            return InvalidRequest(
                "The cursor does not belong to this list. Start from its beginning.", code="bad_cursor"
            )
        case BadInput():
            return None
        case TransactionCancelled() if not error.conflict:
            return Conflict(CHANGED_SINCE)
        case ConditionFailed() | OutOfBounds():
            return Conflict(CHANGED_SINCE)
        case ResultUnknown():
            return OutcomeUnknown(OUTCOME_UNKNOWN)
        case Throttled() | TableConflict() | TransactionCancelled() | StoreUnreachable() | IndexNotReady():
            return Unavailable(STATUS_ERRORS[503][1])
        case StoreFull():
            return StorageFull(STORAGE_FULL)
        case StoreClosed():
            return Unavailable(STATUS_ERRORS[503][1])
        case _:
            return None


def _details(exc: HTTPException) -> dict[str, Any]:
    match exc.extra:
        case dict(extra):
            return {str(name): value for name, value in extra.items()}
        case [_, *_] as problems:
            return {"problems": problems}
        case _:
            return {}


def _answer(
    request: AnyRequest, status: int, problem: Problem, headers: Mapping[str, str] | None = None
) -> Response[Any]:
    if _prefers_html(request):
        # Imported here, since pages import this module.
        from zataku.server.pages.page_routes import error_page

        return error_page(request, status, problem, headers)
    return Response(ErrorBody(problem), status_code=status, media_type=MediaType.JSON, headers=dict(headers or {}))


def _prefers_html(request: AnyRequest) -> bool:
    if request.scope["path"].startswith("/api/"):
        return False
    # JSON first: a caller that accepts anything is a program.
    offered = [MediaType.JSON.value, MediaType.HTML.value]
    try:
        return Accept(request.headers.get("accept", "*/*")).best_match(offered) == MediaType.HTML.value
    except OverflowError:  # Litestar does not expect a weight that is infinite
        return False
