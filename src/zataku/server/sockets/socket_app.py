"""Where sockets come in: who is asking, from which page, and how often; then the conversation begins."""

import time
from collections.abc import Mapping
from math import ceil

import structlog

from zataku.accounts.rate_limits import RateLimits, client_network
from zataku.errors import NotFound, RateLimited, RequestError
from zataku.platform.identity import Identity
from zataku.realtime.sockets.endpoint import Endpoint
from zataku.server.http.asgi import Receive, Scope, Send, headers_of, turn_away
from zataku.server.http.authentication import Authentication
from zataku.server.http.origins import Origins
from zataku.server.http.request_context import RequestContext, RequestContextReader

log = structlog.stdlib.get_logger("zataku.access")

PATH = "/socket"


class SocketApp:
    """Lets sockets in at one address. Whoever is refused gets the reason as the answer to the handshake."""

    def __init__(
        self,
        endpoint: Endpoint,
        doorkeeper: RequestContextReader,
        callers: Authentication,
        rate_limits: RateLimits,
        origins: Origins,
    ) -> None:
        self._endpoint = endpoint
        self._doorkeeper = doorkeeper
        self._callers = callers
        self._rate_limits = rate_limits
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket, from the handshake to its end."""
        visit = self._doorkeeper.receive(scope)
        try:
            identity = await self._let_in(scope, visit)
        except RequestError as refused:
            retry = {"retry-after": str(ceil(refused.retry_after))} if isinstance(refused, RateLimited) else {}
            log.info("socket_refused", request_id=visit.id, status=refused.status, code=refused.code)
            await turn_away(send, refused.status, refused.problem, {"x-request-id": visit.id, **retry})
            return
        begun, who = time.perf_counter(), identity.account_id
        try:
            await self._endpoint.serve(scope, receive, send, identity=identity, address=client_network(visit.address))
        finally:
            seconds = round(time.perf_counter() - begun, 1)
            log.info("socket_ended", request_id=visit.id, seconds=seconds, account=who)

    async def _let_in(self, scope: Scope, visit: RequestContext) -> Identity:
        if scope["path"] != PATH:
            raise NotFound(f"There is no socket at this address. It is at {PATH}.")
        headers: Mapping[str, str] = headers_of(scope)
        self._origins.check(visit, headers)
        self._rate_limits.consume("socket_address", client_network(visit.address))
        return await self._callers.identify(visit, headers)
