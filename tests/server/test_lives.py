"""What goes on in a system while the server is open, and the name by which a server knows itself again."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.app_context import user_identity
from zataku.errors import NotFound, RequestError
from zataku.live.limits import is_external_id
from zataku.live.messages import CloseRoom
from zataku.platform.design import account
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import RoomBehaviour
from zataku.server import app
from zataku.server.settings import Settings
from zataku.system import AppContext, System

URL = "http://127.0.0.1:8000"


class NoSuchRoom(RoomBehaviour[Any]):
    """A kind of room that does not exist."""

    kind = "live"

    async def acquire(self, room_id: str) -> Any:
        raise NotFound(f"There is no room {room_id}.")

    def decode_command(self, payload: bytes) -> Any:
        raise AssertionError("No command can arrive.")

    async def reload(self, state: Any) -> Any:
        raise AssertionError("No room runs.")

    async def handle(self, state: Any, commands: Any, now: float) -> Any:
        raise AssertionError("No room runs.")

    async def snapshot(self, state: Any, viewer: Any, since: str | None) -> bytes:
        raise AssertionError("No room runs.")


async def test_the_life_of_a_system_begins_with_the_rooms_and_ends_after_them_on_an_open_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def plug(house: AppContext) -> System:
        @asynccontextmanager
        async def life() -> AsyncGenerator[None]:
            told.append(await rooms_say(house))
            yield
            told.append(await rooms_say(house))
            assert await house.store.get(account(user_identity().account_id)) is None

        async def home(_: Identity) -> msgspec.Struct:
            return house

        async def remove(_: AccountId) -> None:
            return

        rooms = NoSuchRoom()
        return System(name="live", tables=(), behaviour=rooms, home=home, remove=remove, life=life)

    monkeypatch.setattr(app, "PLUGS", (plug,))
    settings = Settings(data=str(tmp_path), demo=False)
    async with app.open_application(settings, public_url=URL, loopback=URL) as opened:
        assert told == ["not_found"]
        await opened.leave()
        assert told == ["not_found"]
    assert told == ["not_found", "unavailable"]


async def rooms_say(house: AppContext) -> str:
    with pytest.raises(RequestError) as refused:
        await house.rooms.execute("live/hall", user_identity(), CloseRoom())
    return refused.value.problem.code


def test_a_server_has_its_name_again_at_the_next_start_unless_its_port_is_any() -> None:
    def names(**given: Any) -> str:
        return app._node_name("table", "table:17:c0ffee", Settings(**given))

    assert names(port=8000) == names(port=8000) == "table:127.0.0.1:8000"
    assert len({names(port=8000), names(port=8001), names(host="0.0.0.0"), names(host="::1")}) == 4
    assert names(port=0) == "table:17:c0ffee"
    assert is_external_id(app._node_name("m" * 64, "p", Settings(host="fe80::1%" + "h" * 200, port=65535)))
