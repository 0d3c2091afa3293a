"""Headers of every response, errors and static files included."""

from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

from zataku.server.http.request_context import request_context

# Nothing is loaded from other sites, and no inline script or style runs. Pictures may be made in the page itself:
# drawings, and QR codes.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'"
)

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
HSTS = "max-age=31536000"
"""A year, without subdomains: they may belong to other servers."""


async def add_security_headers(message: Message, scope: Scope) -> None:
    """Add the headers to a response, with the cookie of a new guest."""
    if message["type"] != "http.response.start":
        return
    headers = MutableScopeHeaders.from_message(message)
    request = request_context(scope)
    headers["X-Request-Id"] = request.id
    for name, text in SECURITY_HEADERS.items():
        headers[name] = text
    if request.is_secure:
        headers["Strict-Transport-Security"] = HSTS
    if scope["path"].startswith("/api/") and "cache-control" not in headers:
        headers["Cache-Control"] = "no-store"
    for cookie in request.new_cookies:
        headers.add("Set-Cookie", cookie)
