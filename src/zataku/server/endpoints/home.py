"""What the home page shows: one object for each system, each with its state of this moment."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import structlog
from litestar import get
from litestar.di import NamedDependency
from litestar.params import SkipValidation
from litestar.types import ControllerRouterHandler

from zataku.drawing.home import DrawingHome
from zataku.kifu.home import KifuHome
from zataku.live.home import LiveHome
from zataku.othello.home import OthelloHome
from zataku.platform.identity import Identity
from zataku.ranking.home import RankingHome
from zataku.realtime.topics import Topics
from zataku.system import AppContext, System

log = structlog.stdlib.get_logger()


class HomeState(msgspec.Struct, frozen=True, kw_only=True):
    """How each system is at this moment; null where that cannot be had."""

    drawing: DrawingHome | None
    othello: OthelloHome | None
    ranking: RankingHome | None
    live: LiveHome | None
    kifu: KifuHome | None


TOPIC = "home"
CHANGED = b'{"k":"changed"}'
LOOKS_EVERY = 5.0


async def publish_room_changes(house: AppContext, kinds: Sequence[str]) -> None:
    """Tell for ever, at most every few seconds, that rooms have come or gone or that people have.

    What else changes is told by the system that changes it, under the same topic.
    """
    known: list[dict[str, int]] | None = None
    while True:
        now = [house.rooms.running(kind) for kind in kinds]
        if known is not None and now != known:
            house.topics.tell(TOPIC, CHANGED)
        known = now
        await house.clock.sleep(LOOKS_EVERY)


async def _everybody(_topic_id: str, _who: Identity) -> bool:
    return True


def home_route(systems: Sequence[System], topics: Topics) -> ControllerRouterHandler:
    """The handler of /api/home. Whoever shows it hears on the topic `home` when it is worth asking again."""
    topics.declare(TOPIC, _everybody)

    async def state(system: System, identity: Identity) -> Any:
        try:
            return await system.home(identity)
        except Exception as problem:
            log.warning("home_failed", system=system.name, exc_info=problem)
            return None

    @get("/api/home", tags=["home"], summary="What lies on the table", operation_id="home")
    async def home(identity: NamedDependency[SkipValidation[Identity]]) -> HomeState:
        """The state of each system as its object on the home page shows it; null where it cannot be had."""
        states = await asyncio.gather(*(state(system, identity) for system in systems))
        return HomeState(**{system.name: each for system, each in zip(systems, states, strict=True)})

    return home
