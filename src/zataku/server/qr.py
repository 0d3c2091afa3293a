"""QR codes of our own addresses, dark on white in every theme, since cameras read no others well."""

import io
import re
from functools import lru_cache
from typing import Annotated

from litestar import Response, get
from litestar.params import QueryParameter
from litestar.types import ControllerRouterHandler

from zataku.refusals import Invalid
from zataku.server.callers import UNATTENDED

# A path as our pages have them: no other host, no query, nothing that a reader would have to unpack.
_PATH = r"^/(?:[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*)?$"
DARK, LIGHT = "#1C2320", "#FFFFFF"


def qr_route(public_url: str) -> ControllerRouterHandler:
    """The handler of /qr.svg."""

    @get(
        "/qr.svg",
        media_type="image/svg+xml",
        tags=["home"],
        summary="A QR code of a page",
        operation_id="qr",
        opt=dict(UNATTENDED),
        sync_to_thread=True,
    )
    def qr(
        path: Annotated[
            str, QueryParameter(pattern=_PATH, max_length=200, description="Path of the page, such as /live")
        ],
    ) -> Response[bytes]:
        """A picture that leads whoever scans it to a page of this server."""
        if not re.fullmatch(_PATH, path):
            raise Invalid("The path must be one of this server's pages, such as /live.", field="path")
        headers = {"Cache-Control": "public, max-age=3600"}
        return Response(drawn(public_url + path), headers=headers)

    return qr


@lru_cache(256)
def drawn(url: str) -> bytes:
    """The QR code of a URL as SVG."""
    # Loaded by those who ask for one.
    import segno

    out = io.BytesIO()
    segno.make(url, error="m", micro=False).save(
        out, kind="svg", xmldecl=False, dark=DARK, light=LIGHT, border=4, scale=8, omitsize=True
    )
    return out.getvalue()
