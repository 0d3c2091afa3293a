"""Headers that every answer carries, errors and static files included."""

from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

# Nothing is loaded from anywhere else, and nothing written into a page runs or styles it.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
)

SAFE_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


async def add_safe_headers(message: Message, _scope: Scope) -> None:
    """Put the headers on an answer that is about to leave."""
    if message["type"] == "http.response.start":
        headers = MutableScopeHeaders.from_message(message)
        for name, text in SAFE_HEADERS.items():
            headers[name] = text
