"""Every kind of caller of the application: anonymous, guest, user, keys with and without scopes, admin."""

import json
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from tests.realtime.sockets.memory_connection import MemoryConnection
from tests.server.conftest import PUBLIC
from zataku.clock import AdvanceableClock
from zataku.platform.design import Account
from zataku.platform.identity import Identity
from zataku.platform.limits import Scope
from zataku.realtime.sockets.protocol import EXTENSION
from zataku.server.http.asgi import Message
from zataku.server.http.startup_gate import StartupGate
from zataku.server.services import Services

ADDRESS = ("198.51.100.20", 50000)


class Outcomes(NamedTuple):
    """The outcome for each kind of caller: `ok`, or the code of the error."""

    anonymous: str = "ok"
    guest: str = "ok"
    user: str = "ok"
    key_without_scope: str = "ok"
    key_with_scope: str = "ok"
    admin: str = "ok"


class Row(NamedTuple):
    """The outcomes of one route, and what is sent to it."""

    outcomes: Outcomes
    body: object = None
    query: Mapping[str, str] = {}


class Callers:
    """Requests of every kind of caller. Users sign in again for each request, since some routes sign them out."""

    def __init__(self, gate: StartupGate, services: Services, user: Account) -> None:
        self.services = services
        self._gate = gate
        self._transport = httpx.ASGITransport(app=gate, client=ADDRESS)  # type: ignore[arg-type]
        self._user = user
        self._names = {"user": "Taken", "admin": "Chief"}
        self._keys: dict[frozenset[Scope], str] = {}

    async def headers(self, caller: str) -> dict[str, str]:
        """The credentials of a caller."""
        accounts = self.services.accounts
        match caller:
            case "anonymous":
                return {}
            case "guest":
                _, cookie = accounts.authenticator.new_guest("en")
                return {"cookie": f"{cookie.key}={cookie.value}", "origin": PUBLIC}
            case "user" | "admin":
                account = await accounts.accounts.find(self._names[caller])
                assert account is not None
                token = await accounts.accounts.sessions.create(account, "")
                return {"cookie": f"zataku_session={token.as_session()}", "origin": PUBLIC}
            case _:
                every_scope = frozenset(scope for system in self.services.systems for scope in system.scopes)
                return {"authorization": f"Bearer {await self._key(every_scope if 'with_' in caller else frozenset())}"}

    async def _key(self, scopes: frozenset[Scope]) -> str:
        if scopes not in self._keys:
            token, _ = await self.services.accounts.accounts.keys.create(self._user.account_id, "robot", scopes)
            self._keys[scopes] = token.as_key()
        return self._keys[scopes]

    async def call(self, caller: str, method: str, path: str, row: Row) -> str:
        """The outcome of a request."""
        # Rate limits are for other tests.
        clock = self.services.context.clock
        assert isinstance(clock, AdvanceableClock)
        await clock.advance(3600)
        response = await self.request(caller, method, path, row.body, row.query)
        return "ok" if response.status_code < 400 else response.json()["error"]["code"]

    async def request(
        self, caller: str, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """The response to a request."""
        headers = await self.headers(caller)
        async with httpx.AsyncClient(transport=self._transport, base_url=PUBLIC, headers=headers) as client:
            return await client.request(method, path, json=body, params=query)

    async def connect(self, caller: str, path: str, headers: Mapping[str, str] | None = None) -> str:
        """The outcome of a socket's handshake, with further headers."""
        lines = {"host": urlsplit(PUBLIC).netloc, **await self.headers(caller), **(headers or {})}
        scope = {
            "type": "websocket",
            "path": path,
            "raw_path": path.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in lines.items()],
            "client": ADDRESS,
            "extensions": {EXTENSION: MemoryConnection()},
        }
        received = iter(({"type": "websocket.connect"}, {"type": "websocket.disconnect"}))
        sent: list[Message] = []

        async def receive() -> Message:
            return next(received)

        async def send(message: Message) -> None:
            sent.append(message)

        await self._gate(scope, receive, send)
        if sent[0]["type"] == "websocket.accept":
            return "ok"
        return json.loads(b"".join(message.get("body", b"") for message in sent))["error"]["code"]

    async def identity(self, caller: str) -> Identity:
        """The identity that a socket of a caller has."""
        headers = await self.headers(caller)
        authenticator = self.services.accounts.authenticator
        cookies = httpx.Cookies(dict([headers["cookie"].split("=", 1)])) if "cookie" in headers else httpx.Cookies()
        identity = await authenticator.authenticate(dict(cookies), headers.get("authorization"), "en")
        return identity or authenticator.new_guest("en")[0]
