"""The context of a request or socket: its id, the address of its client, and the identity of the caller."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network
from typing import Any, TypeAlias
from uuid import uuid4

import msgspec

from zataku.platform.identity import Identity
from zataku.server.http.asgi import Scope, headers_of

Address: TypeAlias = IPv4Address | IPv6Address

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_PROXY_HEADERS = frozenset(
    {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "forwarded", "via"}
)


class RequestContext(msgspec.Struct, kw_only=True):
    """A request as the middleware and handlers see it.

    `is_local` is true when it comes from this machine without the header of any proxy, `is_direct` when, in addition,
    its peer is not a trusted proxy.
    """

    id: str
    address: str
    is_secure: bool
    host: str
    is_local: bool
    is_direct: bool
    identity: Identity | None = None
    new_cookies: list[str] = []
    """Set-Cookie headers that the middleware adds to the response: the cookie of a new guest."""

    @property
    def origin(self) -> str:
        """The origin of pages at the address of the request."""
        return f"{'https' if self.is_secure else 'http'}://{self.host}"


class RequestContextReader:
    """Reads the context of a request from its headers. Only trusted proxies may name the client.

    With `https`, every caller reaches the server over HTTPS, even where a proxy terminates it.
    """

    def __init__(self, proxies: Iterable[str], *, https: bool = False) -> None:
        self._proxies = tuple(ip_network(proxy) for proxy in proxies)
        self._https = https

    def read(self, scope: Scope) -> RequestContext:
        """The context of a request, which is also stored in its scope."""
        headers = headers_of(scope)
        peer = str((scope.get("client") or ("",))[0])
        address, is_secure = peer, scope.get("scheme") in ("https", "wss")
        if self.is_proxy(peer):
            # Some proxies append a header of their own instead of an address.
            lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
            address = self._client_address(",".join(lines), peer)
            is_secure = headers.get("x-forwarded-proto", "").strip().lower() == "https"
        sent_id, host = headers.get("x-request-id", ""), headers.get("host", "").lower()
        is_local = _is_from_this_machine(scope, peer, host) and _PROXY_HEADERS.isdisjoint(headers)
        context = RequestContext(
            id=sent_id if _REQUEST_ID.fullmatch(sent_id) else uuid4().hex,
            address=address,
            is_secure=is_secure or self._https,
            host=host,
            is_local=is_local,
            is_direct=is_local and not self.is_proxy(peer),
        )
        scope.setdefault("state", {})["request_context"] = context
        return context

    def is_proxy(self, peer: str) -> bool:
        """True for the address of a trusted proxy."""
        address = _parse_address(peer)
        return address is not None and any(address in network for network in self._proxies)

    def _client_address(self, forwarded: str, peer: str) -> str:
        # From the right: each trusted proxy appended its own peer; the first untrusted address is the client.
        for entry in reversed(forwarded.split(",")):
            text = _without_forwarded_port(entry.strip())
            if _parse_address(text) is None:
                return peer
            peer = text
            if not self.is_proxy(text):
                return text
        return peer


def request_context(scope: Any) -> RequestContext:
    """The context of the request that a scope belongs to."""
    return scope["state"]["request_context"]


def is_local_name(host: str) -> bool:
    """True for a Host header that only a nearby machine can have: a private address, or a name without a domain.

    A name that can be registered is not local, whatever it resolves to: otherwise a foreign page could rebind its name
    to this machine and pass for a page of this server.
    """
    name = _without_port(host)
    address = _parse_address(name)
    if address is not None:
        return address.is_private or address.is_loopback or address.is_link_local or address in _SHARED
    return "." not in name or name.endswith((".localhost", ".local", ".lan", ".home.arpa", ".internal"))


def _without_port(host: str) -> str:
    return (host.rpartition(":")[0] if re.search(r":\d+$", host) else host).strip("[]")


def _without_forwarded_port(entry: str) -> str:
    """An entry of `X-Forwarded-For` as an address. Some proxies add the port: `192.0.2.1:80`, `[2001:db8::1]:80`."""
    found = _ADDRESS_WITH_PORT.fullmatch(entry)
    return entry if found is None else found[1] or found[2]


_ADDRESS_WITH_PORT = re.compile(r"\[([^\]]*)\](?::\d+)?|([^:]*):\d+")
_SHARED = IPv4Network("100.64.0.0/10")
"""Addresses of private networks over the internet, such as Tailscale."""


def _parse_address(text: str) -> Address | None:
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    # A dual-stack socket shows IPv4 addresses as IPv6 ones.
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed


def _is_from_this_machine(scope: Scope, peer: str, host: str) -> bool:
    """True for a connection of this machine to itself, to a name or address that can only mean this machine."""
    address, own = _parse_address(peer), _parse_address(str((scope.get("server") or ("",))[0]))
    if address is None:
        return False
    if address.is_loopback:
        return is_local_name(host)
    # A server that listens on one address is reached there from its own machine, too.
    return address == own and _parse_address(_without_port(host)) == own


def cookies_in(headers: Mapping[str, str]) -> dict[str, str]:
    """The cookies of a request. Of two with one name the first wins, which is the one with the longer path."""
    cookies: dict[str, str] = {}
    for part in headers.get("cookie", "").split(";"):
        name, equals, value = part.strip().partition("=")
        if equals:
            cookies.setdefault(name, value.strip('"'))
    return cookies
