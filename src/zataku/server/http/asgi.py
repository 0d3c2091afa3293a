"""The ASGI interface between uvicorn and the application: its types, and JSON responses without a framework."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

import msgspec

from zataku.errors import Problem

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON = "application/json"


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request by their names in lower case; of several with one name, the last."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def send_json(send: Send, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
    """Answer a request with JSON that no cache stores."""
    await _send(send, "http.response", status, body, {"cache-control": "no-store", **(headers or {})})


async def send_error(send: Send, status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
    """Answer a request with an error."""
    await send_json(send, status, {"error": problem}, headers)


async def reject_socket(send: Send, status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
    """Answer a socket's handshake with an error. Programs can read it; browsers only see that the socket failed."""
    await _send(send, "websocket.http.response", status, {"error": problem}, headers or {})


async def _send(send: Send, message: str, status: int, body: object, headers: Mapping[str, str]) -> None:
    encoded = msgspec.json.encode(body)
    lines = {"content-type": JSON, "content-length": str(len(encoded)), **headers}
    raw = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in lines.items()]
    await send({"type": f"{message}.start", "status": status, "headers": raw})
    await send({"type": f"{message}.body", "body": encoded})
