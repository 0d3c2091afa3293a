"""The page that Prometheus reads."""

import hmac

from litestar import HttpMethod, Response, route
from litestar.types import ControllerRouterHandler
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from zataku.accounts.authentication import Authenticator
from zataku.errors import Forbidden, Unauthorized
from zataku.server.http.authentication import UNATTENDED
from zataku.server.http.errors import Asked
from zataku.server.http.request_context import cookies_in, request_context
from zataku.server.metrics import Metrics

FORM = CONTENT_TYPE_LATEST.replace("; charset=utf-8", "")
"""The content type of the figures; Litestar says the character set of every text itself."""


def metrics_route(
    figures: Metrics, authenticator: Authenticator, token: str, *, public: bool
) -> ControllerRouterHandler:
    """The handler of /metrics: for admins, for whoever has the token, and for this machine.

    On a `public` server everybody may seem to come from this machine, by a proxy that does not say who they are.
    """

    async def allowed(request: Asked) -> bool:
        given = request.headers.get("authorization", "")
        if token and hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return True
        if request_context(request.scope).near and not public:
            return True
        try:
            known = await authenticator.authenticate(cookies_in(request.headers))
        except Unauthorized:
            return False
        return known is not None and known.is_admin

    @route(
        "/metrics",
        http_method=[HttpMethod.GET, HttpMethod.HEAD],
        include_in_schema=False,
        opt=dict(UNATTENDED),
    )
    async def metrics(request: Asked) -> Response[bytes]:
        """Show the figures of this process."""
        if not await allowed(request):
            raise Forbidden("Only for admins, from the server's own machine, or with the metrics token.")
        shown = generate_latest(figures.registry)
        return Response(shown, media_type=FORM, headers={"Cache-Control": "no-store"})

    return metrics
