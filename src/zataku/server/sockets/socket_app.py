"""The ASGI app of WebSockets: checks and authenticates the handshake, then serves the socket."""

import time
from collections.abc import Mapping
from math import ceil

import structlog

from zataku.accounts.rate_limits import RateLimits, client_network
from zataku.errors import NotFound, RateLimited, RequestError
from zataku.platform.identity import Identity
from zataku.realtime.sockets.session import Endpoint
from zataku.server.http.asgi import Receive, Scope, Send, headers_of, reject_socket
from zataku.server.http.authentication import Authentication
from zataku.server.http.origins import Origins
from zataku.server.http.request_context import RequestContext, RequestContextReader

log = structlog.stdlib.get_logger("zataku.access")

PATH = "/socket"


class SocketApp:
    """Accepts sockets at one path. A rejected handshake is answered with the reason."""

    def __init__(
        self,
        endpoint: Endpoint,
        context_reader: RequestContextReader,
        authentication: Authentication,
        rate_limits: RateLimits,
        origins: Origins,
    ) -> None:
        self._endpoint = endpoint
        self._context_reader = context_reader
        self._authentication = authentication
        self._rate_limits = rate_limits
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket, from the handshake to its end."""
        request = self._context_reader.read(scope)
        try:
            identity = await self._authenticate(scope, request)
        except RequestError as error:
            retry = {"retry-after": str(ceil(error.retry_after))} if isinstance(error, RateLimited) else {}
            log.info("socket_rejected", request_id=request.id, status=error.status, code=error.code)
            await reject_socket(send, error.status, error.problem, {"x-request-id": request.id, **retry})
            return
        started, address = time.perf_counter(), client_network(request.address)
        try:
            await self._endpoint.serve(scope, receive, send, identity=identity, address=address)
        finally:
            seconds = round(time.perf_counter() - started, 1)
            log.info("socket_closed", request_id=request.id, seconds=seconds, account=identity.account_id)

    async def _authenticate(self, scope: Scope, request: RequestContext) -> Identity:
        if scope["path"] != PATH:
            raise NotFound(f"There is no socket at this address. Connect to {PATH}.")
        headers: Mapping[str, str] = headers_of(scope)
        self._origins.check(request, headers)
        self._rate_limits.consume("socket_address", client_network(request.address))
        return await self._authentication.identify(request, headers)
