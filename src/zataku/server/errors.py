"""The one shape of every error: `{"error": {"code", "message", "details"}}`, or a small page for people."""

from http import HTTPStatus
from typing import Any
from uuid import uuid4

import msgspec
import structlog
from litestar import MediaType, Request, Response
from litestar.datastructures import State
from litestar.datastructures.headers import Accept
from litestar.exceptions import HTTPException, ValidationException

from zataku.server.pages import filled, language_of, page, words

log = structlog.stdlib.get_logger()

CODES = {
    400: ("bad_request", "The request could not be understood. Check its address, headers and body."),
    401: ("unauthorized", "Say who you are first."),
    403: ("forbidden", "You may not do that here."),
    404: ("not_found", "There is nothing at this address. Check the path."),
    405: ("method_not_allowed", "This address exists, but not for this method."),
    413: ("too_large", "The body is too large. Send less."),
    415: ("unsupported_media_type", "Send the body as application/json."),
    429: ("too_many_requests", "Too many requests. Wait a moment and try again."),
    500: ("internal", "Something broke on our side. The server's log has it under the reference in details."),
    503: ("unavailable", "The server cannot take this now. Try again in a moment."),
}
PHRASES = {status.value: status.phrase for status in HTTPStatus}
INVALID = ("invalid", "Some values are not as they must be. See details.")


class Problem(msgspec.Struct, frozen=True):
    """What went wrong: a code for programs, a sentence for people, and what is known about it."""

    code: str
    message: str
    details: dict[str, Any] = {}


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error answer."""

    error: Problem


def answer_refusal(request: Request[object, object, State], exc: HTTPException) -> Response[Any]:
    """Answer a request that was refused for a known reason."""
    status = exc.status_code
    if status >= 500:
        return answer_failure(request, exc)
    code, message = INVALID if isinstance(exc, ValidationException) else _named(status)
    return _answer(request, status, Problem(code, message, _details(exc)), exc.headers)


def answer_failure(request: Request[object, object, State], exc: Exception) -> Response[Any]:
    """Answer a request that failed through no fault of the caller; the cause goes to the log and nowhere else."""
    status = exc.status_code if isinstance(exc, HTTPException) else 500
    reference = uuid4().hex[:12]
    log.error("request_failed", reference=reference, method=request.method, path=request.url.path, exc_info=exc)
    return _answer(request, status, Problem(*_named(status), {"reference": reference}), None)


def _named(status: int) -> tuple[str, str]:
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


def _answer(
    request: Request[object, object, State], status: int, problem: Problem, headers: dict[str, str] | None
) -> Response[Any]:
    if _wants_page(request):
        return _page_for(request, status, problem)
    return Response(ErrorBody(problem), status_code=status, media_type=MediaType.JSON, headers=headers)


def _wants_page(request: Request[object, object, State]) -> bool:
    # JSON first: a caller that takes anything is a program.
    offered = [MediaType.JSON.value, MediaType.HTML.value]
    return Accept(request.headers.get("accept", "*/*")).best_match(offered) == MediaType.HTML.value


def _page_for(request: Request[object, object, State], status: int, problem: Problem) -> Response[str]:
    language = language_of(request)
    spoken = words(language)
    kind = "missing" if status == 404 else "broken" if status >= 500 else "refused"
    reference = problem.details.get("reference")
    text = filled(
        "error.html",
        language,
        title=spoken[f"error_{kind}_title"],
        advice=spoken[f"error_{kind}_advice"],
        mark=f"{spoken['reference_label']} {reference}" if reference else str(status),
    )
    return page(language, text, status)
