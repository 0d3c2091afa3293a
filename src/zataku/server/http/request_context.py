"""One request or socket as the server sees it: its id, where it comes from, and who it turned out to be."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, TypeAlias
from uuid import uuid4

import msgspec

from zataku.platform.identity import Identity
from zataku.server.http.asgi import Scope, headers_of

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_FORWARDED = frozenset({"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "forwarded", "via"})


class RequestContext(msgspec.Struct, kw_only=True):
    """What is known about a request.

    `here` is true when it comes from this machine and says nothing of a proxy, `near` when no proxy can be in between.
    """

    id: str
    address: str
    secure: bool
    host: str
    here: bool
    near: bool
    identity: Identity | None = None
    cookies: list[str] = []
    """What the answer sets beside its own: the cookie of a guest who is new."""

    @property
    def origin(self) -> str:
        """The origin of pages that lie at the address which was asked."""
        return f"{'https' if self.secure else 'http'}://{self.host}"


class RequestContextReader:
    """Reads off a request where it comes from. Only listed proxies are believed what they say of others.

    With `https` everybody reaches the server that way, whoever unpacks it on the way.
    """

    def __init__(self, proxies: Iterable[str], *, https: bool = False) -> None:
        self._proxies = tuple(ip_network(proxy) for proxy in proxies)
        self._https = https

    def receive(self, scope: Scope) -> RequestContext:
        """Make the visit of a request and leave it in its scope."""
        headers = headers_of(scope)
        peer = str((scope.get("client") or ("",))[0])
        address, secure = peer, scope.get("scheme") in ("https", "wss")
        if self._believed(peer):
            address = self._farthest(headers.get("x-forwarded-for", ""), peer)
            secure = headers.get("x-forwarded-proto", "").strip().lower() == "https"
        asked, host = headers.get("x-request-id", ""), headers.get("host", "").lower()
        here = _is_here(scope, peer, host) and _FORWARDED.isdisjoint(headers)
        visit = RequestContext(
            id=asked if _SANE_ID.fullmatch(asked) else uuid4().hex,
            address=address,
            secure=secure or self._https,
            host=host,
            here=here,
            near=here and not self._believed(peer),
        )
        scope.setdefault("state", {})["visit"] = visit
        return visit

    def _believed(self, peer: str) -> bool:
        address = _address(peer)
        return address is not None and any(address in network for network in self._proxies)

    def _farthest(self, forwarded: str, peer: str) -> str:
        # From the right: each believed proxy appended who came to it; the first unbelieved is the caller.
        for entry in reversed(forwarded.split(",")):
            text = entry.strip()
            if _address(text) is None:
                return peer
            peer = text
            if not self._believed(text):
                return text
        return peer


def request_context(scope: Any) -> RequestContext:
    """The visit that a request belongs to."""
    return scope["state"]["visit"]


def is_local_name(host: str) -> bool:
    """True for a Host that only a machine nearby can have: an address of a home network, or a name without a domain.

    A name that anybody could register is not local, whatever it resolves to: that is how a foreign page would pass for
    one of ours.
    """
    name = _name(host)
    address = _address(name)
    if address is not None:
        return address.is_private or address.is_loopback or address.is_link_local or address in _SHARED
    return "." not in name or name.endswith((".localhost", ".local", ".lan", ".home.arpa", ".internal"))


def _name(host: str) -> str:
    """What a Host says without its port."""
    return (host.rpartition(":")[0] if re.search(r":\d+$", host) else host).strip("[]")


_SHARED = IPv4Network("100.64.0.0/10")
"""Addresses that private networks over the internet, such as Tailscale, give out."""


def _address(text: str) -> Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    # A socket that takes both kinds shows addresses of the fourth as ones of the sixth.
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def _is_here(scope: Scope, peer: str, host: str) -> bool:
    """True for a connection of this machine to itself, asked for by a name or address that only it can mean."""
    address, ours = _address(peer), _address(str((scope.get("server") or ("",))[0]))
    if address is None:
        return False
    if address.is_loopback:
        return is_local_name(host)
    # A server that listens on one address is reached there from its own machine too.
    return address == ours and _address(_name(host)) == ours


def cookies_in(headers: Mapping[str, str]) -> dict[str, str]:
    """The cookies of a request. Of two with one name the first counts, which is the one with the longer path."""
    found: dict[str, str] = {}
    for part in headers.get("cookie", "").split(";"):
        name, equals, value = part.strip().partition("=")
        if equals:
            found.setdefault(name, value.strip('"'))
    return found
