"""Open connections close with the session or key that they authenticated with, and keys need scopes on sockets."""

import asyncio
from random import Random
from typing import Any

import httpx
import pytest
from msgspec import Raw
from msgspec.structs import replace

from tests.platform.items import numbered
from tests.realtime.sockets.memory_connection import MemoryConnection, YieldingClock
from zataku.errors import Forbidden
from zataku.platform.identity import Identity
from zataku.realtime.messages import CommandMessage, Join, TransientMessage
from zataku.realtime.sockets.limits import SocketLimits
from zataku.server.app import Application
from zataku.server.sockets.connections import CHECK_INTERVAL, ConnectionHub, close_expired_connections
from zataku.table import Throttled

pytestmark = pytest.mark.asyncio(loop_scope="module")


PROGRAM = Identity(account_id=numbered(1), role="user", language="en", key_hash="b" * 64)


async def test_a_key_joins_and_commands_on_a_socket_what_its_scopes_allow(
    application: Application, browser: httpx.AsyncClient
) -> None:
    room = "live/" + (await browser.post("/api/live/rooms", json={"name": "Talk"})).json()["roomId"]
    hub, doorway = application.services.realtime.hub, application.services.realtime.router
    say = CommandMessage(id=2, to=room, what=Raw(b'{"k":"comment","content":"hello"}'))
    stranger, reader, writer = (
        hub.open(MemoryConnection(), replace(PROGRAM, scopes=frozenset(scopes)), "198.51.100.1")
        for scopes in (["drawing:read"], ["live:read"], ["live:write"])
    )
    await doorway.join(stranger, Join(id=1, to="home"))
    await doorway.join(reader, Join(id=1, to=room))
    await doorway.execute(writer, say)
    for refused in (
        doorway.join(stranger, Join(id=1, to=room)),
        doorway.execute(stranger, say),
        doorway.execute(reader, say),
    ):
        with pytest.raises(Forbidden) as missing:
            await refused
        assert missing.value.code == "scope_missing"
    with pytest.raises(Forbidden):
        doorway.handle_transient(reader, TransientMessage(to=room, what=Raw(b"{}")))
    with pytest.raises(Forbidden):
        doorway.handle_binary(reader, room, b"x")
    for socket in (stranger, reader, writer):
        doorway.disconnected(socket)
        hub.forget(socket)


async def test_sockets_of_expired_credentials_are_closed_at_the_next_check() -> None:
    clock = YieldingClock(0.0)
    hub = ConnectionHub(clock, Random(1), SocketLimits())
    stays, goes = MemoryConnection(), MemoryConnection()
    hub.open(stays, PROGRAM, "198.51.100.1")
    hub.open(goes, replace(PROGRAM, key_hash="c" * 64), "198.51.100.1")
    answers: list[Any] = [Throttled("The table is busy.")]

    async def holds(identity: Identity) -> bool:
        if answers:
            raise answers.pop()
        return identity == PROGRAM

    looking = asyncio.create_task(close_expired_connections(hub, holds))
    await clock.advance(CHECK_INTERVAL)
    assert (stays.code, goes.code, answers) == (None, None, [])
    await clock.advance(CHECK_INTERVAL)
    assert (stays.code, goes.code) == (None, 4001)
    looking.cancel()
