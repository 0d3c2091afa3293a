"""What answers requests: every route of the house, and the rules that hold for all of them."""

import asyncio
from typing import Any, cast

from litestar import Litestar
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ControllerRouterHandler

from zataku.accounts.api import routes as account_routes
from zataku.accounts.control_routes import control_routes
from zataku.clock import AdvanceableClock, now_ms
from zataku.realtime.endpoint import Endpoint
from zataku.server.admin.overview import Process
from zataku.server.admin.routes import admin_routes
from zataku.server.admin.tables.prices import PRICES, read_prices
from zataku.server.asgi import App
from zataku.server.callers import UNATTENDED, Callers, Patience, caller
from zataku.server.errors import HANDLERS
from zataku.server.gauging import room_kinds
from zataku.server.headers import add_safe_headers
from zataku.server.home import home_route
from zataku.server.metrics import metrics_route
from zataku.server.openapi import openapi_route
from zataku.server.origins import Origins
from zataku.server.pages import Paper, page_routes
from zataku.server.parts import Parts
from zataku.server.qr import qr_route
from zataku.server.restores import keep_sessions_from
from zataku.server.settings import masked
from zataku.server.shelf import STATIC, Shelf, file_routes
from zataku.server.socket import SocketDoor
from zataku.server.squeeze import Squeeze
from zataku.server.systems import TABLES
from zataku.server.travel import clock_route
from zataku.server.visits import Doorkeeper, visit_of
from zataku.server.watch import Watch

DEPENDENCIES = {"identity": Provide(caller, sync_to_thread=False)}
"""What every handler may ask for by name."""


def site(parts: Parts) -> tuple[App, App]:
    """What answers requests, and what takes sockets."""
    settings, network, reception = parts.settings, parts.network, parts.reception
    doorkeeper = Doorkeeper(settings.proxies, https=parts.house.public_url.startswith("https:"))
    origins = Origins(settings.public_url, developing=settings.env == "dev")
    callers = Callers(reception.identities, reception.rates, origins)
    described = api_routes(parts)
    paper = Paper(parts.build, parts.house.public_url)
    titles = {system.name: system.title for system in parts.systems if system.title is not None}
    routes: list[ControllerRouterHandler] = [
        *described,
        openapi_route(described, DEPENDENCIES),
        metrics_route(parts.figures, reception.identities, settings.metrics_token, public=bool(settings.public_url)),
        *control_routes(reception.accounts, parts.control, _here, UNATTENDED),
        *page_routes(paper, titles),
        *file_routes(Shelf(parts.web, STATIC)),
    ]
    if isinstance(parts.house.clock, AdvanceableClock):
        routes.append(clock_route(parts.house.clock))
    app = Litestar(
        route_handlers=routes,
        dependencies=DEPENDENCIES,
        middleware=[callers, Patience(settings.request_seconds)],
        exception_handlers=HANDLERS,
        before_send=[add_safe_headers],
        request_max_body_size=settings.body_limit,
        state=State({"paper": paper}),
        openapi_config=None,
        # Failures are logged once, where they are answered.
        logging_config=None,
    )
    sockets = SocketDoor(Endpoint(network.hub, network.doorway), doorkeeper, callers, reception.rates, origins)
    return Watch(Squeeze(cast("App", app)), doorkeeper, reception.rates, parts.figures), sockets


def api_routes(parts: Parts) -> list[ControllerRouterHandler]:
    """What programs can ask for."""
    reception = parts.reception
    return [
        home_route(parts.systems, parts.house.topics),
        qr_route(parts.house.public_url, reception.rates),
        *account_routes(reception.accounts, reception.identities, reception.rates, _address),
        *(handler for system in parts.systems for handler in system.routes),
        *_admin(parts),
    ]


def _admin(parts: Parts) -> tuple[ControllerRouterHandler, ...]:
    settings = parts.settings

    async def restored() -> None:
        now = now_ms(parts.house.clock)
        parts.reception.identities.sessions_from = now
        # What rooms hold in memory is of before.
        await parts.network.rooms.renew()
        parts.network.hub.come_back(0)
        await asyncio.to_thread(keep_sessions_from, settings.folder, now)

    return admin_routes(
        store=parts.house.store,
        clock=parts.house.clock,
        process=Process(
            name=parts.house.process,
            env=settings.env,
            bus=str(masked("bus", settings.bus)),
            place=parts.place,
            started=parts.started,
        ),
        data=settings.folder,
        systems=TABLES,
        accounts=parts.reception.accounts,
        rooms=parts.house.rooms,
        room_kinds=room_kinds(parts.systems),
        connections=parts.network.hub.seated,
        history=parts.history,
        restored=restored,
        upload_limit=settings.upload_limit,
        prices=read_prices(settings.prices) if settings.prices else PRICES,
    )


def _address(request: ASGIConnection[Any, Any, Any, Any]) -> str:
    return visit_of(request.scope).address


def _here(request: ASGIConnection[Any, Any, Any, Any]) -> bool:
    return visit_of(request.scope).here
