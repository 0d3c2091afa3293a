"""Every route of the application, and the layers around them."""

import asyncio
from typing import Any, cast

from litestar import Litestar, Router
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ControllerRouterHandler

from zataku.accounts.api import routes as account_routes
from zataku.accounts.control_routes import control_routes
from zataku.accounts.route_access import RouteAccess
from zataku.clock import AdvanceableClock, now_ms
from zataku.realtime.sockets.session import Endpoint
from zataku.server.admin.overview import Process
from zataku.server.admin.routes import admin_routes
from zataku.server.admin.tables.prices import PRICES, read_prices
from zataku.server.endpoints.home import home_route
from zataku.server.endpoints.metrics_route import metrics_route
from zataku.server.endpoints.qr_codes import qr_route
from zataku.server.endpoints.test_clock import test_clock_route
from zataku.server.http.asgi import App
from zataku.server.http.authentication import Authentication, check_declarations, current_identity
from zataku.server.http.compression import Compression
from zataku.server.http.errors import HANDLERS
from zataku.server.http.exports import ExportSlots
from zataku.server.http.openapi import ApiDescription, openapi_route
from zataku.server.http.origins import Origins
from zataku.server.http.request_context import RequestContextReader, request_context
from zataku.server.http.request_log import RequestLog
from zataku.server.http.request_timeout import RequestTimeout
from zataku.server.http.security_headers import add_security_headers
from zataku.server.http.static_files import STATIC_FOLDER, StaticFiles, static_file_routes
from zataku.server.metrics import room_kinds
from zataku.server.pages.page_routes import PageAssets, page_routes
from zataku.server.process.data_folder import write_session_cutoff
from zataku.server.services import Services
from zataku.server.settings import mask_secret
from zataku.server.sockets.socket_app import SocketApp
from zataku.server.systems import tables_by_design

DEPENDENCIES = {"identity": Provide(current_identity, sync_to_thread=False)}
"""What every handler may take by name."""


def build_apps(services: Services) -> tuple[App, App]:
    """The app that answers requests, and the one that serves sockets."""
    settings, realtime, accounts = services.settings, services.realtime, services.accounts
    context_reader = RequestContextReader(settings.proxies, https=services.context.public_url.startswith("https:"))
    origins = Origins(settings.public_url, is_development=settings.env == "dev")
    authentication = Authentication(accounts.authenticator, accounts.rate_limits, origins)
    litestar = build_litestar(services, authentication)
    app = RequestLog(Compression(cast("App", litestar)), context_reader, accounts.rate_limits, services.metrics)
    endpoint = Endpoint(realtime.hub, realtime.router)
    return app, SocketApp(endpoint, context_reader, authentication, accounts.rate_limits, origins)


def build_litestar(services: Services, authentication: Authentication) -> Litestar:
    """The Litestar application with every route. Raises LookupError for one that does not declare its access."""
    assets = PageAssets(services.web_build, services.context.public_url)
    litestar = Litestar(
        route_handlers=_all_routes(services, assets),
        dependencies=DEPENDENCIES,
        middleware=[
            authentication,
            ExportSlots(services.accounts.export_limits),
            RequestTimeout(services.settings.request_seconds),
        ],
        exception_handlers=HANDLERS,
        before_send=[add_security_headers],
        request_max_body_size=services.settings.body_limit,
        state=State({"page_assets": assets}),
        openapi_config=None,
        # Failures are logged once, where they are answered.
        logging_config=None,
    )
    check_declarations(litestar)
    return litestar


def describe_api(services: Services) -> ApiDescription:
    """The description of all routes under /api, for OpenAPI and the types of the web pages."""
    return ApiDescription(_api_routes(services), DEPENDENCIES, services.systems)


def _all_routes(services: Services, assets: PageAssets) -> list[ControllerRouterHandler]:
    settings, accounts = services.settings, services.accounts
    is_public = bool(settings.public_url)
    described = _api_routes(services)
    routes: list[ControllerRouterHandler] = [
        *described,
        openapi_route(lambda: ApiDescription(described, DEPENDENCIES, services.systems)),
        metrics_route(services.metrics, accounts.authenticator, settings.metrics_token, is_public=is_public),
        *control_routes(accounts.accounts, services.control_token, _is_local),
        *page_routes(assets, services.systems, services.plugins),
        *static_file_routes(StaticFiles(services.web_folder, STATIC_FOLDER)),
    ]
    if isinstance(services.context.clock, AdvanceableClock):
        routes.append(test_clock_route(services.context.clock))
    return routes


def _api_routes(services: Services) -> list[ControllerRouterHandler]:
    accounts, systems = services.accounts, services.systems
    known_scopes = frozenset(scope for system in systems for scope in system.scopes)
    return [
        home_route(systems, services.plugins, services.context.topics),
        qr_route(services.context.public_url, accounts.rate_limits),
        *account_routes(accounts.accounts, accounts.authenticator, accounts.rate_limits, known_scopes, _address),
        *(
            Router("", route_handlers=services.plugins[system.name].routes, opt=RouteAccess(system=system.name).opt)
            for system in systems
        ),
        *_admin_routes(services),
    ]


def _admin_routes(services: Services) -> tuple[ControllerRouterHandler, ...]:
    settings, context, realtime = services.settings, services.context, services.realtime

    async def after_restore() -> None:
        now = now_ms(context.clock)
        services.accounts.authenticator.cutoff.at = now
        # The state of rooms in memory is that of before.
        await realtime.rooms.reload_all()
        realtime.hub.disconnect_all(0)
        await asyncio.to_thread(write_session_cutoff, settings.folder, now)

    return admin_routes(
        store=context.store,
        clock=context.clock,
        process=Process(
            name=context.process,
            env=settings.env,
            bus=str(mask_secret("bus", settings.bus)),
            store_url=services.store_url,
            started=services.started_at,
        ),
        data=settings.folder,
        systems=tables_by_design(services.systems),
        accounts=services.accounts.accounts,
        rooms=context.rooms,
        room_kinds=room_kinds(services.plugins),
        connections=realtime.hub.open_connections,
        history=services.history,
        restored=after_restore,
        upload_limit=settings.upload_limit,
        prices=read_prices(settings.prices) if settings.prices else PRICES,
    )


def _address(request: ASGIConnection[Any, Any, Any, Any]) -> str:
    return request_context(request.scope).address


def _is_local(request: ASGIConnection[Any, Any, Any, Any]) -> bool:
    return request_context(request.scope).is_local
