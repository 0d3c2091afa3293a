"""Headers that every answer carries, errors and static files included."""

from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

from zataku.server.http.request_context import request_context

# Nothing is loaded from anywhere else, and nothing written into a page runs or styles it. Pictures may be made in the
# page itself: what somebody draws, and QR codes.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'"
)

SAFE_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
HSTS = "max-age=31536000"
"""A year, without subdomains: they are not ours to decide about."""


async def add_safe_headers(message: Message, scope: Scope) -> None:
    """Put the headers on an answer that is about to leave, with the cookie of a guest who is new."""
    if message["type"] != "http.response.start":
        return
    headers = MutableScopeHeaders.from_message(message)
    visit = request_context(scope)
    headers["X-Request-Id"] = visit.id
    for name, text in SAFE_HEADERS.items():
        headers[name] = text
    if visit.secure:
        headers["Strict-Transport-Security"] = HSTS
    if scope["path"].startswith("/api/") and "cache-control" not in headers:
        headers["Cache-Control"] = "no-store"
    for cookie in visit.cookies:
        headers.add("Set-Cookie", cookie)
