"""The wired application: the lifespans of systems, the names of processes, and the demo of an empty store."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

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
from zataku.realtime.topics import Topics
from zataku.server import app
from zataku.server.settings import Settings
from zataku.system import AppContext, Demo, Plugin, System
from zataku.table import StoreFull

URL = "http://127.0.0.1:8000"


class NoSuchRoom(RoomBehaviour[Any]):
    """A kind of room that does not exist."""

    kind = "live"

    async def require_open(self, room_id: str) -> None:
        raise NotFound(f"There is no room {room_id}.")

    async def acquire(self, room_id: str) -> Any:
        raise AssertionError("No room runs.")

    def decode_command(self, payload: bytes) -> Any:
        raise AssertionError("No command can arrive.")

    async def reload(self, state: Any) -> Any:
        raise AssertionError("No room runs.")

    async def handle(self, state: Any, commands: Any, now: float) -> Any:
        raise AssertionError("No room runs.")

    async def snapshot(self, state: Any, viewer: Any, since: str | None) -> bytes:
        raise AssertionError("No room runs.")


class Card(msgspec.Struct):
    """A home card without anything on it."""


async def test_a_lifespan_begins_when_rooms_can_run_and_ends_after_them_on_an_open_store(tmp_path: Path) -> None:
    codes: list[str] = []

    def plug(context: AppContext) -> Plugin:
        @asynccontextmanager
        async def lifespan() -> AsyncGenerator[None]:
            codes.append(await room_error(context))
            yield
            codes.append(await room_error(context))
            assert await context.store.get(account(user_identity().account_id)) is None

        async def home(_: Identity) -> Card:
            return Card()

        async def remove(_: AccountId) -> None:
            return

        return Plugin(room=NoSuchRoom(), home=home, remove=remove, lifespan=lifespan)

    system = System(name="live", about="Nothing", tables=(), texts=tmp_path / "texts.toml", home_card=Card, plug=plug)
    settings = Settings(data=str(tmp_path), demo=False)
    async with app.open_application(settings, public_url=URL, loopback=URL, systems=(system,)) as application:
        assert codes == ["not_found"]
        await application.drain()
        assert codes == ["not_found"]
    assert codes == ["not_found", "unavailable"]


async def room_error(context: AppContext) -> str:
    """The code of the error that a command to a room gets."""
    with pytest.raises(RequestError) as error:
        await context.rooms.execute("live/hall", user_identity(), CloseRoom())
    return error.value.problem.code


def test_a_process_keeps_its_node_name_over_restarts_unless_its_port_is_any() -> None:
    def node_name(**options: Any) -> str:
        return app._node_name("table", "table:17:c0ffee", Settings(**options))

    assert node_name(port=8000) == node_name(port=8000) == "table:127.0.0.1:8000"
    assert len({node_name(port=8000), node_name(port=8001), node_name(host="0.0.0.0"), node_name(host="::1")}) == 4
    assert node_name(port=0) == "table:17:c0ffee"
    assert is_external_id(app._node_name("m" * 64, "p", Settings(host="fe80::1%" + "h" * 200, port=65535)))


class RecordingTopics:
    """Topics that record what is published."""

    def __init__(self) -> None:
        self.published: list[tuple[str, bytes]] = []

    def publish(self, topic: str, event: bytes) -> None:
        self.published.append((topic, event))


def plugin(demo: Demo | None) -> Plugin:
    async def home(_: Identity) -> Plugin:
        raise NotImplementedError

    async def remove(_: AccountId) -> None:
        raise NotImplementedError

    return Plugin(home=home, remove=remove, demo=demo)


async def test_open_home_pages_are_notified_when_a_demo_is_filled() -> None:
    topics, filled = RecordingTopics(), list[str]()

    async def fill() -> None:
        assert topics.published == []
        filled.append("othello")

    await app.fill_demo(cast("Topics", topics), {"kifu": plugin(None), "othello": plugin(fill)})
    assert filled == ["othello"]
    assert topics.published == [("home", b'{"k":"changed"}')]


async def test_a_demo_that_fails_does_not_prevent_the_others() -> None:
    topics, filled = RecordingTopics(), list[str]()

    async def fail() -> None:
        raise StoreFull("The disk is full.")

    async def fill() -> None:
        filled.append("ranking")

    await app.fill_demo(cast("Topics", topics), {"othello": plugin(fail), "ranking": plugin(fill)})
    assert filled == ["ranking"]
    assert len(topics.published) == 1
