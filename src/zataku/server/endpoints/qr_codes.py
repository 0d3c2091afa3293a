"""QR codes of the server's pages, dark on white in every theme, since cameras read no others well."""

import asyncio
import io
import re
from collections import OrderedDict
from typing import Annotated

from litestar import Response, get
from litestar.params import QueryParameter
from litestar.types import ControllerRouterHandler

from zataku.accounts.rate_limits import RateLimits, client_network
from zataku.accounts.route_access import PUBLIC
from zataku.errors import InvalidRequest
from zataku.server.http.errors import AnyRequest
from zataku.server.http.request_context import request_context

# A path of a page: no other host, no query, no escapes.
_PATH = r"^/(?:[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*)?$"
_MAX_CACHED_CODES = 256
DARK, LIGHT = "#1C2320", "#FFFFFF"


class QrCodes:
    """Draws QR codes, one at a time, and caches the latest: a whole audience requests the same one."""

    def __init__(self, public_url: str, rate_limits: RateLimits) -> None:
        self._public_url = public_url
        self._rate_limits = rate_limits
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        self._lock = asyncio.Lock()

    async def get(self, path: str, network: str) -> bytes:
        """The code of a page. Only codes that are not cached count against the rate limit of the caller's network."""
        if path not in self._cache:
            self._rate_limits.consume("code_address", network)
            async with self._lock:
                if path not in self._cache:
                    self._cache[path] = await asyncio.to_thread(qr_svg, self._public_url + path)
                    if len(self._cache) > _MAX_CACHED_CODES:
                        self._cache.popitem(last=False)
        return self._cache[path]


def qr_route(public_url: str, rate_limits: RateLimits) -> ControllerRouterHandler:
    """The route of /qr.svg."""
    codes = QrCodes(public_url, rate_limits)

    @get(
        "/qr.svg",
        media_type="image/svg+xml",
        tags=["home"],
        summary="A QR code of a page",
        operation_id="qr",
        opt=PUBLIC.opt,
    )
    async def qr(
        request: AnyRequest,
        path: Annotated[
            str, QueryParameter(pattern=_PATH, max_length=200, description="Path of the page, such as /profile")
        ],
    ) -> Response[bytes]:
        """A QR code of a page of this server, as SVG."""
        if not re.fullmatch(_PATH, path):
            raise InvalidRequest("The path must be one of this server's pages, such as /profile.", field="path")
        code = await codes.get(path, client_network(request_context(request.scope).address))
        return Response(code, headers={"Cache-Control": "public, max-age=3600"})

    return qr


def qr_svg(url: str) -> bytes:
    """The QR code of a URL as SVG."""
    # Imported when the first code is drawn.
    import segno

    out = io.BytesIO()
    segno.make(url, error="m", micro=False).save(
        out, kind="svg", xmldecl=False, dark=DARK, light=LIGHT, border=4, scale=8, omitsize=True
    )
    return out.getvalue()
