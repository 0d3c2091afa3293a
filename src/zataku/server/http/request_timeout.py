"""Middleware that ends a request whose response has not started in time."""

import asyncio
from collections.abc import Mapping
from typing import Any

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send, WebSocketReceiveMessage

from zataku.errors import RequestError, Unavailable

NO_TIMEOUT: Mapping[str, Any] = {"no_timeout": True}
"""The `opt` of handlers without a time limit, such as those that take large files."""


class RequestTimedOut(RequestError):
    """The body of a request did not arrive in time."""

    status, default_code = 408, "too_slow"


class RequestTimeout(ASGIMiddleware):
    """Limits the seconds until a response starts."""

    scopes = (ScopeType.HTTP,)
    exclude_opt_key = "no_timeout"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass a request on, and cancel it at the deadline unless its response has started."""
        deadline = asyncio.timeout(self._seconds)
        is_complete = is_waiting_for_body = False

        async def receive_body() -> HTTPReceiveMessage | WebSocketReceiveMessage:
            nonlocal is_complete, is_waiting_for_body
            is_waiting_for_body = not is_complete
            message = await receive()
            is_complete, is_waiting_for_body = not message.get("more_body"), False
            return message

        try:
            async with deadline:

                async def send_response(message: Message) -> None:
                    deadline.reschedule(None)
                    await send(message)

                await next_app(scope, receive_body, send_response)
        except TimeoutError:
            if not deadline.expired():
                raise
            if is_waiting_for_body:
                raise RequestTimedOut("The body of the request did not arrive in time. Send it again.") from None
            raise Unavailable(
                "The request took too long and was cancelled. Check before you send it again.", code="too_slow"
            ) from None
