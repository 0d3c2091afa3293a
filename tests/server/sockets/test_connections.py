"""Open connections close with the session or key that they authenticated with, and keys need scopes on sockets."""

import asyncio
from random import Random
from typing import Any

import httpx
import pytest
from msgspec import Raw
from msgspec.structs import replace

from tests.platform.items import nth_account_id
from tests.realtime.sockets.memory_connection import MemoryConnection, YieldingClock
from zataku.errors import Forbidden
from zataku.platform.identity import Identity
from zataku.realtime.messages import CommandMessage, Join, TransientMessage
from zataku.realtime.sockets.limits import SocketLimits
from zataku.server.app import Application
from zataku.server.sockets.connections import CHECK_INTERVAL, ConnectionHub, close_expired_connections
from zataku.table import Throttled

pytestmark = pytest.mark.asyncio(loop_scope="module")


PROGRAM = Identity(account_id=nth_account_id(1), role="user", language="en", key_hash="b" * 64)


async def test_a_key_joins_and_commands_on_a_socket_what_its_scopes_allow(
    application: Application, browser: httpx.AsyncClient
) -> None:
    room = "live/" + (await browser.post("/api/live/rooms", json={"name": "Talk"})).json()["roomId"]
    hub, router = application.services.realtime.hub, application.services.realtime.router
    comment = CommandMessage(id=2, to=room, what=Raw(b'{"k":"comment","content":"hello"}'))
    stranger, reader, writer = (
        hub.open(MemoryConnection(), replace(PROGRAM, scopes=frozenset(scopes)), "198.51.100.1")
        for scopes in (["drawing:read"], ["live:read"], ["live:write"])
    )
    await router.join(stranger, Join(id=1, to="home"))
    await router.join(reader, Join(id=1, to=room))
    await router.execute(writer, comment)
    for refused in (
        router.join(stranger, Join(id=1, to=room)),
        router.execute(stranger, comment),
        router.execute(reader, comment),
    ):
        with pytest.raises(Forbidden) as error:
            await refused
        assert error.value.code == "scope_missing"
    with pytest.raises(Forbidden):
        router.handle_transient(reader, TransientMessage(to=room, what=Raw(b"{}")))
    with pytest.raises(Forbidden):
        router.handle_binary(reader, room, b"x")
    for socket in (stranger, reader, writer):
        router.disconnected(socket)
        hub.forget(socket)


async def test_sockets_of_expired_credentials_are_closed_at_the_next_check() -> None:
    clock = YieldingClock(0.0)
    hub = ConnectionHub(clock, Random(1), SocketLimits())
    valid, expired = MemoryConnection(), MemoryConnection()
    hub.open(valid, PROGRAM, "198.51.100.1")
    hub.open(expired, replace(PROGRAM, key_hash="c" * 64), "198.51.100.1")
    errors: list[Any] = [Throttled("The table is busy.")]

    async def is_valid(identity: Identity) -> bool:
        if errors:
            raise errors.pop()
        return identity == PROGRAM

    task = asyncio.create_task(close_expired_connections(hub, is_valid))
    await clock.advance(CHECK_INTERVAL)
    assert (valid.code, expired.code, errors) == (None, None, [])
    await clock.advance(CHECK_INTERVAL)
    assert (valid.code, expired.code) == (None, 4001)
    task.cancel()
