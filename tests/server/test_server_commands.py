"""Commands of the server itself: no room of any system takes one from a client."""

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from msgspec import Raw

from tests.realtime.sockets.memory_connection import MemoryConnection
from tests.support.app_context import user_identity
from zataku.errors import InvalidRequest, RequestError
from zataku.live.server_commands import EraseSender
from zataku.realtime.messages import CommandMessage
from zataku.realtime.rooms.behaviour import Command, ServerCommand
from zataku.realtime.rooms.bus_messages import decode_command, encode_command
from zataku.server.app import Application
from zataku.server.systems import SYSTEMS

pytestmark = pytest.mark.asyncio(loop_scope="module")


def server_commands(kind: type[ServerCommand] = ServerCommand) -> Iterator[type[ServerCommand]]:
    """Every command of the server that is declared anywhere."""
    for declared in kind.__subclasses__():
        yield declared
        yield from server_commands(declared)


def bodies() -> list[bytes]:
    """The JSON of every command of the server, and of the one that clients once could send."""
    return [*(msgspec.json.encode(declared()) for declared in server_commands()), b'{"k":"forget"}']


async def test_no_room_decodes_a_command_of_the_server_from_a_client(application: Application) -> None:
    rooms = application.services.realtime.rooms
    kinds = [plugin.room.kind for plugin in application.services.plugins.values() if plugin.room is not None]
    assert kinds
    for kind in kinds:
        for body in bodies():
            with pytest.raises(InvalidRequest):
                rooms.decode_command(f"{kind}/1", body)
            with pytest.raises(RequestError):
                rooms._behaviours[kind].decode_transient(body)


async def test_a_socket_that_sends_a_command_of_the_server_is_refused(application: Application) -> None:
    realtime = application.services.realtime
    socket = realtime.hub.open(MemoryConnection(), user_identity(), "198.51.100.7")
    for body in bodies():
        with pytest.raises(InvalidRequest):
            await realtime.router.execute(socket, CommandMessage(id=1, to="live/1", what=Raw(body)))
    realtime.hub.forget(socket)


async def test_a_decoder_that_knows_a_command_of_the_server_is_refused_by_the_registry(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = application.services.realtime.rooms
    monkeypatch.setattr(rooms._behaviours["live"], "decode_command", lambda _: EraseSender())
    with pytest.raises(InvalidRequest):
        rooms.decode_command("live/1", b"{}")


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
async def test_the_declared_commands_of_clients_have_none_of_the_server(system: Any) -> None:
    union = system.messages.get("Command")
    declared = get_args(union) or (union,)
    assert not [it for it in declared if isinstance(it, type) and issubclass(it, ServerCommand)]


async def test_a_command_of_the_server_reaches_the_owner_in_another_process(application: Application) -> None:
    room = application.services.realtime.rooms._behaviours["live"]
    command = Command(sender=user_identity(), body=EraseSender(), id="1")
    assert decode_command(room, encode_command(command)) == command
