"""The interface between uvicorn and the application, in the few words of it that are used here."""

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


async def answer(send: Send, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
    """Answer with JSON, from where no application has begun."""
    encoded = msgspec.json.encode(body)
    said = {"content-type": JSON, "content-length": str(len(encoded)), "cache-control": "no-store", **(headers or {})}
    lines = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in said.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": encoded})


async def refuse(send: Send, status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
    """Answer with an error in its one shape."""
    await answer(send, status, {"error": problem}, headers)


async def turn_away(send: Send, status: int, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
    """Refuse a socket before it is open, with an error that programs can read; browsers only see that it failed."""
    encoded = msgspec.json.encode({"error": problem})
    said = {"content-type": JSON, "content-length": str(len(encoded)), **(headers or {})}
    lines = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in said.items()]
    await send({"type": "websocket.http.response.start", "status": status, "headers": lines})
    await send({"type": "websocket.http.response.body", "body": encoded})
