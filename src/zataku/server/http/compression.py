"""Compression of pages and JSON. Static files are compressed in advance; streams are not compressed."""

import asyncio
import gzip

from zataku.server.http.asgi import App, Message, Receive, Scope, Send, headers_of

MIN_BYTES = 1024
"""A smaller response fits into one packet anyway."""
THREAD_BYTES = 64 * 1024
"""A larger response is compressed in a thread, since it would block the event loop for too long."""
LEVEL = 5
MEDIA_TYPES = ("text/", "application/json", "image/svg+xml")


class Compression:
    """Wraps the application, and compresses responses that are sent in one piece."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if not accepts_encoding(headers_of(scope).get("accept-encoding", ""), "gzip"):
            await self._app(scope, receive, send)
            return
        start: Message | None = None

        async def send_compressed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None and message["type"] == "http.response.body":
                response_start, start = start, None
                if not message.get("more_body"):
                    message["body"] = await _compress(response_start, message.get("body", b""))
                await send(response_start)
            await send(message)

        await self._app(scope, receive, send_compressed)


def accepts_encoding(accept_encoding: str, encoding: str) -> bool:
    """True when an Accept-Encoding header accepts an encoding."""
    for entry in accept_encoding.lower().split(","):
        name, _, weight = entry.partition(";")
        if name.strip() == encoding:
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


async def _compress(start: Message, body: bytes) -> bytes:
    """The compressed body, with the headers of its response changed; the body itself when it stays uncompressed."""
    headers = headers_of(start)
    if len(body) < MIN_BYTES or "content-encoding" in headers:
        return body
    if not headers.get("content-type", "").startswith(MEDIA_TYPES):
        return body
    compressed = await asyncio.to_thread(_gzip, body) if len(body) >= THREAD_BYTES else _gzip(body)
    vary = ", ".join(filter(None, (headers.get("vary"), "Accept-Encoding")))
    changed = {b"content-encoding": b"gzip", b"content-length": str(len(compressed)).encode(), b"vary": vary.encode()}
    unchanged = [(name, value) for name, value in start["headers"] if name.lower() not in changed]
    start["headers"] = [*unchanged, *changed.items()]
    return compressed


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
