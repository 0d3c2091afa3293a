"""Middleware that identifies the caller of every route that is not public, and checks its access."""

from collections.abc import Mapping

from litestar.app import Litestar
from litestar.datastructures import Headers
from litestar.enums import ScopeType
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.middleware import ASGIMiddleware
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, Receive, Scope, Send

from zataku.accounts.authentication import Authenticator
from zataku.accounts.rate_limits import RateLimits, client_network
from zataku.accounts.route_access import OPTION, PUBLIC, RouteAccess
from zataku.platform.identity import Identity
from zataku.server.http.origins import SAFE_METHODS, Origins
from zataku.server.http.request_context import RequestContext, cookies_in, request_context
from zataku.server.pages.languages import choose_language


class Authentication(ASGIMiddleware):
    """Refuses writes from other sites' pages, identifies the caller, and checks access and rate limits."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, authenticator: Authenticator, rate_limits: RateLimits, origins: Origins) -> None:
        self._authenticator = authenticator
        self._rate_limits = rate_limits
        self._origins = origins

    def should_bypass_for_scope(self, scope: Scope) -> bool:  # type: ignore[override]  # Litestar takes any callable
        """True for public routes."""
        return route_access(scope["route_handler"]).is_public

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass a request on, or raise the error of the response."""
        request, headers = request_context(scope), Headers.from_scope(scope)
        is_write = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
        network = client_network(request.address)
        if is_write:
            self._origins.check(request, headers)
        request.identity = identity = await self.identify(request, headers)
        # Before anything of the body is read.
        route_access(scope["route_handler"]).check(identity, is_write=is_write)
        is_new = bool(request.new_cookies)
        if is_write:
            self._rate_limits.consume("write_address", network)
            # A browser has its cookie before it writes. A caller that drops it each time is limited by network.
            self._rate_limits.consume("write", network if is_new else identity.account_id)
        elif not is_new:
            # A whole audience may arrive behind one router within a minute: for new guests only the network counts.
            self._rate_limits.consume("read", identity.account_id)
        await next_app(scope, receive, send)

    async def identify(self, request: RequestContext, headers: Mapping[str, str]) -> Identity:
        """The identity of the caller. A caller without credentials becomes a guest; the response sets the cookie."""
        language = choose_language(None, headers.get("accept-language"))
        identity = await self._authenticator.authenticate(cookies_in(headers), headers.get("authorization"), language)
        if identity is not None:
            return identity
        guest, cookie = self._authenticator.new_guest(language)
        request.new_cookies.append(cookie.to_header(header=""))
        return guest


def current_identity(scope: Scope) -> Identity:
    """The dependency `identity` of every handler."""
    identity = request_context(scope).identity
    assert identity is not None, "A public route does not identify its callers."
    return identity


def route_access(handler: BaseRouteHandler) -> RouteAccess:
    """The declared access of a route; Litestar's own OPTIONS handlers are public.

    Raises LookupError for any other route that declares nothing, so that a forgotten declaration refuses every caller.
    """
    if OPTION in handler.opt:
        return handler.opt[OPTION]
    if isinstance(handler, HTTPRouteHandler) and handler.http_methods == {"OPTIONS"}:
        return PUBLIC
    raise LookupError(f"{handler} does not declare who may call it. Add opt=... of zataku.accounts.route_access.")


def check_declarations(app: Litestar) -> None:
    """Raise LookupError for a route that does not declare who may call it, or is outside the path of its system."""
    for route in app.routes:
        handlers = route.route_handlers if isinstance(route, HTTPRoute) else [route.route_handler]
        for handler in handlers:
            try:
                system = route_access(handler).system
            except LookupError as error:
                raise LookupError(f"{route.path}: {error}") from None
            if system is not None and not f"{route.path}/".startswith(f"/api/{system}/"):
                raise LookupError(f"{route.path} belongs to {system}, so its path must begin with /api/{system}.")
