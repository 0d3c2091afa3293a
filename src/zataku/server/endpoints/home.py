"""The home page: one card for each system, with its current state."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec
import structlog
from litestar import get
from litestar.di import NamedDependency
from litestar.params import SkipValidation
from litestar.types import ControllerRouterHandler

from zataku.accounts.route_access import ANY_CALLER
from zataku.platform.identity import Identity
from zataku.realtime.topics import Topics, only_without_id
from zataku.system import AppContext, Plugin, System

log = structlog.stdlib.get_logger()

TOPIC = "home"
CHANGED = b'{"k":"changed"}'
CHECK_INTERVAL = 5.0


async def publish_room_changes(context: AppContext, kinds: Sequence[str]) -> None:
    """Publish without end, at most every few seconds, that rooms or the people in them have changed.

    Other changes are published under the same topic by the system that makes them.
    """
    previous: list[dict[str, int]] | None = None
    while True:
        current = [context.rooms.running(kind) for kind in kinds]
        if previous is not None and current != previous:
            context.topics.publish(TOPIC, CHANGED)
        previous = current
        await context.clock.sleep(CHECK_INTERVAL)


def home_state_type(systems: Sequence[System]) -> type[msgspec.Struct]:
    """The response of /api/home: the card of each system by its name; null where it failed or the scope is missing."""
    return msgspec.defstruct(
        "HomeState",
        [(system.name, system.home_card | None) for system in systems],
        frozen=True,
        kw_only=True,
        namespace={"__doc__": "The state of each system; null where it is not available."},
        module=__name__,
    )


def home_route(systems: Sequence[System], plugins: Mapping[str, Plugin], topics: Topics) -> ControllerRouterHandler:
    """The route of /api/home. Subscribers of the topic `home` are notified when its response has changed."""
    topics.declare(TOPIC, exists=only_without_id)
    state_type = home_state_type(systems)

    async def card(system: System, identity: Identity) -> msgspec.Struct | None:
        # A card may show what is private to the account, so that an API key needs the scope to read the system.
        read_scope, _ = system.scopes
        if not identity.may(read_scope):
            return None
        try:
            return await plugins[system.name].home(identity)
        except Exception as problem:
            log.warning("home_card_failed", system=system.name, exc_info=problem)
            return None

    async def home(identity: NamedDependency[SkipValidation[Identity]]) -> msgspec.Struct:
        """The state of each system as its object on the home page shows it; null where it is not available."""
        cards = await asyncio.gather(*(card(system, identity) for system in systems))
        return state_type(**dict(zip((system.name for system in systems), cards, strict=True)))

    # Litestar reads the annotation, and the type depends on the systems.
    home.__annotations__["return"] = state_type
    return get(
        "/api/home", tags=["home"], summary="The state of every system", operation_id="home", opt=ANY_CALLER.opt
    )(home)
