"""QR codes of our own addresses, dark on white in every theme, since cameras read no others well."""

import asyncio
import io
import re
from collections import OrderedDict
from typing import Annotated

from litestar import Response, get
from litestar.params import QueryParameter
from litestar.types import ControllerRouterHandler

from zataku.accounts.rate_limits import RateLimits, client_network
from zataku.errors import InvalidRequest
from zataku.server.http.authentication import UNATTENDED
from zataku.server.http.errors import Asked
from zataku.server.http.request_context import request_context

# A path as our pages have them: no other host, no query, nothing that a reader would have to unpack.
_PATH = r"^/(?:[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*)?$"
_MOST_HELD = 256
DARK, LIGHT = "#1C2320", "#FFFFFF"


class Codes:
    """Draws codes, one at a time, and holds those that were asked for lately: a whole hall looks at one."""

    def __init__(self, public_url: str, rate_limits: RateLimits) -> None:
        self._public_url = public_url
        self._rate_limits = rate_limits
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._drawing = asyncio.Lock()

    async def of(self, path: str, place: str) -> bytes:
        """The code of a page, for somebody from that place; only new ones count for how often they may ask."""
        if path not in self._held:
            self._rate_limits.consume("code_address", place)
            async with self._drawing:
                if path not in self._held:
                    self._held[path] = await asyncio.to_thread(drawn, self._public_url + path)
                    if len(self._held) > _MOST_HELD:
                        self._held.popitem(last=False)
        return self._held[path]


def qr_route(public_url: str, rate_limits: RateLimits) -> ControllerRouterHandler:
    """The handler of /qr.svg."""
    codes = Codes(public_url, rate_limits)

    @get(
        "/qr.svg",
        media_type="image/svg+xml",
        tags=["home"],
        summary="A QR code of a page",
        operation_id="qr",
        opt=dict(UNATTENDED),
    )
    async def qr(
        request: Asked,
        path: Annotated[
            str, QueryParameter(pattern=_PATH, max_length=200, description="Path of the page, such as /live")
        ],
    ) -> Response[bytes]:
        """A picture that leads whoever scans it to a page of this server."""
        if not re.fullmatch(_PATH, path):
            raise InvalidRequest("The path must be one of this server's pages, such as /live.", field="path")
        code = await codes.of(path, client_network(request_context(request.scope).address))
        return Response(code, headers={"Cache-Control": "public, max-age=3600"})

    return qr


def drawn(url: str) -> bytes:
    """The QR code of a URL as SVG."""
    # Loaded by those who ask for one.
    import segno

    out = io.BytesIO()
    segno.make(url, error="m", micro=False).save(
        out, kind="svg", xmldecl=False, dark=DARK, light=LIGHT, border=4, scale=8, omitsize=True
    )
    return out.getvalue()
