"""The route of /metrics, which Prometheus reads."""

import hmac

from litestar import HttpMethod, Response, route
from litestar.types import ControllerRouterHandler
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from zataku.accounts.authentication import Authenticator
from zataku.accounts.route_access import PUBLIC
from zataku.errors import Forbidden, Unauthorized
from zataku.server.http.errors import AnyRequest
from zataku.server.http.request_context import cookies_in, request_context
from zataku.server.metrics import Metrics

MEDIA_TYPE = CONTENT_TYPE_LATEST.replace("; charset=utf-8", "")
"""Litestar adds the character set of every text itself."""


def metrics_route(
    metrics: Metrics, authenticator: Authenticator, token: str, *, is_public: bool
) -> ControllerRouterHandler:
    """The route, for admins, for requests with the metrics token, and for this machine.

    On a public server, every request may seem to come from this machine, through a proxy that does not name its client.
    """

    async def is_allowed(request: AnyRequest) -> bool:
        authorization = request.headers.get("authorization", "")
        if token and hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
            return True
        if request_context(request.scope).is_direct and not is_public:
            return True
        try:
            identity = await authenticator.authenticate(cookies_in(request.headers))
        except Unauthorized:
            return False
        return identity is not None and identity.is_admin

    @route("/metrics", http_method=[HttpMethod.GET, HttpMethod.HEAD], include_in_schema=False, opt=PUBLIC.opt)
    async def show_metrics(request: AnyRequest) -> Response[bytes]:
        """Answer with the metrics of this process."""
        if not await is_allowed(request):
            raise Forbidden("Metrics are for admins and the server's own machine. Sign in, or send the metrics token.")
        text = generate_latest(metrics.registry)
        return Response(text, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})

    return show_metrics
