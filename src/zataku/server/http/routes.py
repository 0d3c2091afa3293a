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
from zataku.realtime.sockets.endpoint import Endpoint
from zataku.server.admin.overview import Process
from zataku.server.admin.routes import admin_routes
from zataku.server.admin.tables.prices import PRICES, read_prices
from zataku.server.endpoints.home import home_route
from zataku.server.endpoints.metrics_route import metrics_route
from zataku.server.endpoints.qr_codes import qr_route
from zataku.server.endpoints.test_clock import test_clock_route
from zataku.server.gauging import room_kinds
from zataku.server.http.asgi import App
from zataku.server.http.authentication import UNATTENDED, Authentication, RequestTimeout, caller
from zataku.server.http.compression import Compression
from zataku.server.http.errors import HANDLERS
from zataku.server.http.openapi import openapi_route
from zataku.server.http.origins import Origins
from zataku.server.http.request_context import RequestContextReader, request_context
from zataku.server.http.request_log import RequestLog
from zataku.server.http.security_headers import add_safe_headers
from zataku.server.http.static_files import STATIC, StaticFiles, static_file_routes
from zataku.server.pages.page_routes import PageAssets, page_routes
from zataku.server.process.session_cutoff import write_session_cutoff
from zataku.server.services import Services
from zataku.server.settings import masked
from zataku.server.sockets.socket_app import SocketApp
from zataku.server.systems import TABLES

DEPENDENCIES = {"identity": Provide(caller, sync_to_thread=False)}
"""What every handler may ask for by name."""


def site(parts: Services) -> tuple[App, App]:
    """What answers requests, and what takes sockets."""
    settings, network, reception = parts.settings, parts.network, parts.reception
    doorkeeper = RequestContextReader(settings.proxies, https=parts.house.public_url.startswith("https:"))
    origins = Origins(settings.public_url, developing=settings.env == "dev")
    callers = Authentication(reception.authenticator, reception.rate_limits, origins)
    described = api_routes(parts)
    paper = PageAssets(parts.build, parts.house.public_url)
    titles = {system.name: system.title for system in parts.systems if system.title is not None}
    routes: list[ControllerRouterHandler] = [
        *described,
        openapi_route(described, DEPENDENCIES),
        metrics_route(parts.figures, reception.authenticator, settings.metrics_token, public=bool(settings.public_url)),
        *control_routes(reception.accounts, parts.control, _here, UNATTENDED),
        *page_routes(paper, titles),
        *static_file_routes(StaticFiles(parts.web, STATIC)),
    ]
    if isinstance(parts.house.clock, AdvanceableClock):
        routes.append(test_clock_route(parts.house.clock))
    app = Litestar(
        route_handlers=routes,
        dependencies=DEPENDENCIES,
        middleware=[callers, RequestTimeout(settings.request_seconds)],
        exception_handlers=HANDLERS,
        before_send=[add_safe_headers],
        request_max_body_size=settings.body_limit,
        state=State({"paper": paper}),
        openapi_config=None,
        # Failures are logged once, where they are answered.
        logging_config=None,
    )
    sockets = SocketApp(Endpoint(network.hub, network.doorway), doorkeeper, callers, reception.rate_limits, origins)
    return RequestLog(Compression(cast("App", app)), doorkeeper, reception.rate_limits, parts.figures), sockets


def api_routes(parts: Services) -> list[ControllerRouterHandler]:
    """What programs can ask for."""
    reception = parts.reception
    return [
        home_route(parts.systems, parts.house.topics),
        qr_route(parts.house.public_url, reception.rate_limits),
        *account_routes(reception.accounts, reception.authenticator, reception.rate_limits, _address),
        *(handler for system in parts.systems for handler in system.routes),
        *_admin(parts),
    ]


def _admin(parts: Services) -> tuple[ControllerRouterHandler, ...]:
    settings = parts.settings

    async def restored() -> None:
        now = now_ms(parts.house.clock)
        parts.reception.authenticator.sessions_from = now
        # What rooms hold in memory is of before.
        await parts.network.rooms.renew()
        parts.network.hub.come_back(0)
        await asyncio.to_thread(write_session_cutoff, settings.folder, now)

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
    return request_context(request.scope).address


def _here(request: ASGIConnection[Any, Any, Any, Any]) -> bool:
    return request_context(request.scope).here
