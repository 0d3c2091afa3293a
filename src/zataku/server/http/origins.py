"""The origins of pages that may write and open sockets: the server's own, and no others."""

from collections.abc import Mapping

from zataku.errors import Forbidden
from zataku.server.http.request_context import RequestContext, is_local_name

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES = frozenset({"same-origin", "none"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1"})
_OTHER_SITE = "This page was opened from another address. Open it again."


class Origins:
    """The allowed origins.

    With a public URL, that is the only one. Without, a page must come from the address that it calls, which must be the
    address of a nearby machine. In development, any page of this machine is allowed.
    """

    def __init__(self, public_url: str, *, is_development: bool = False) -> None:
        self._public = _origin(public_url) if public_url else None
        self._is_development = is_development

    def check(self, request: RequestContext, headers: Mapping[str, str]) -> None:
        """Raise Forbidden for a request that another site's page may have made with the cookies of its visitor."""
        has_cookies = "cookie" in headers
        if not has_cookies and headers.get("authorization", "").startswith("Bearer "):
            # No browser sends a key by itself.
            return
        origin = headers.get("origin")
        if origin is not None:
            if not self._allows(origin, request):
                raise _wrong_origin(_OTHER_SITE)
        elif (site := headers.get("sec-fetch-site")) is not None:
            if site not in _OWN_SITES:
                raise _wrong_origin(_OTHER_SITE)
        elif has_cookies:
            raise _wrong_origin("A request with cookies must say where it comes from. Send the Origin header.")

    def _allows(self, origin: str, request: RequestContext) -> bool:
        if self._is_development and _origin(origin).rpartition("//")[2].partition(":")[0] in _LOOPBACK:
            return True
        if self._public is not None:
            return origin == self._public
        return _origin(request.origin) == origin and is_local_name(request.host)


def _wrong_origin(message: str) -> Forbidden:
    return Forbidden(message, code="wrong_origin")


def _origin(url: str) -> str:
    """The origin of a URL as browsers write it: in lower case, without the default port of its scheme."""
    scheme, _, rest = url.lower().partition("://")
    default_port = {"http": ":80", "https": ":443"}.get(scheme, "")
    return f"{scheme}://{rest.rstrip('/').removesuffix(default_port)}"
