"""Compressing answers while they leave: pages and JSON; files are compressed ahead, and streams leave as they are."""

import asyncio
import gzip

from zataku.server.http.asgi import App, Message, Receive, Scope, Send, headers_of

SMALLEST = 1024
"""Below this, an answer fits into one packet anyway."""
ASIDE = 64 * 1024
"""From here on it takes longer than others should wait."""
LEVEL = 5
KINDS = ("text/", "application/json", "image/svg+xml")


class Compression:
    """Stands around the application and compresses what comes out of it in one piece."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if not takes(headers_of(scope).get("accept-encoding", ""), "gzip"):
            await self._app(scope, receive, send)
            return
        start: Message | None = None

        async def squeezing(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None and message["type"] == "http.response.body":
                held, start = start, None
                if not message.get("more_body"):
                    message["body"] = await _squeezed(held, message.get("body", b""))
                await send(held)
            await send(message)

        await self._app(scope, receive, squeezing)


def takes(accepted: str, encoding: str) -> bool:
    """Whether a browser that says what it accepts can unpack an encoding."""
    for entry in accepted.lower().split(","):
        name, _, weight = entry.partition(";")
        if name.strip() == encoding:
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


async def _squeezed(start: Message, body: bytes) -> bytes:
    headers = headers_of(start)
    if len(body) < SMALLEST or "content-encoding" in headers:
        return body
    if not headers.get("content-type", "").startswith(KINDS):
        return body
    small = await asyncio.to_thread(_gzip, body) if len(body) >= ASIDE else _gzip(body)
    vary = ", ".join(filter(None, (headers.get("vary"), "Accept-Encoding")))
    changed = {b"content-encoding": b"gzip", b"content-length": str(len(small)).encode(), b"vary": vary.encode()}
    kept = [(name, value) for name, value in start["headers"] if name.lower() not in changed]
    start["headers"] = [*kept, *changed.items()]
    return small


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
