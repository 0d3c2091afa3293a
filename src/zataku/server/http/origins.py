"""Which pages may ask the server to change something: its own, and no other."""

from collections.abc import Mapping

from zataku.errors import Forbidden
from zataku.server.http.request_context import RequestContext, is_local_name

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OURS = frozenset({"same-origin", "none"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1"})


class Origins:
    """The origins that writes and sockets are taken from.

    With a public URL that is the only one. Without, a page must come from the very address it asks, and that must be
    one of a machine nearby. While developing, any page of this machine may ask.
    """

    def __init__(self, public_url: str, *, developing: bool = False) -> None:
        self._public = _origin(public_url) if public_url else None
        self._developing = developing

    def check(self, visit: RequestContext, headers: Mapping[str, str]) -> None:
        """Refuse a request that another site's page may have made with the cookies of whoever looks at it."""
        cookies = "cookie" in headers
        if not cookies and headers.get("authorization", "").startswith("Bearer "):
            # No browser sends a key by itself.
            return
        origin = headers.get("origin")
        if origin is not None:
            if not self._allows(origin, visit):
                raise _refusal("The page that asks belongs to another site. Open it at the address of this server.")
        elif (site := headers.get("sec-fetch-site")) is not None:
            if site not in _OURS:
                raise _refusal("The page that asks belongs to another site. Open it at the address of this server.")
        elif cookies:
            raise _refusal("A request with cookies must say where it comes from: send the Origin header.")

    def _allows(self, origin: str, visit: RequestContext) -> bool:
        if self._developing and _origin(origin).rpartition("//")[2].partition(":")[0] in _LOOPBACK:
            return True
        if self._public is not None:
            return origin == self._public
        return _origin(visit.origin) == origin and is_local_name(visit.host)


def _refusal(message: str) -> Forbidden:
    return Forbidden(message, code="wrong_origin")


def _origin(url: str) -> str:
    """The origin of a URL as browsers write it: in lower case, without the port that its scheme has anyway."""
    scheme, _, rest = url.lower().partition("://")
    usual = {"http": ":80", "https": ":443"}.get(scheme, "")
    return f"{scheme}://{rest.rstrip('/').removesuffix(usual)}"
