"""The address that the limits of a socket count: the client's own, behind trusted proxies the forwarded one."""

from typing import Any, cast

import pytest

from tests.platform.items import nth_account_id
from tests.support.manual_clock import ManualClock
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimit, RateLimits
from zataku.platform.identity import Identity
from zataku.realtime.sockets.session import Endpoint
from zataku.server.http.authentication import Authentication
from zataku.server.http.origins import Origins
from zataku.server.http.request_context import RequestContextReader
from zataku.server.sockets.socket_app import SocketApp

GUEST = Identity(account_id=nth_account_id(1), role="guest", language="en")


class RecordingEndpoint:
    """Records the addresses of the sockets that it is to serve."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    async def serve(self, *_: Any, identity: Identity, address: str) -> None:
        self.addresses.append(address)


class AnyGuest:
    """Authenticates every caller as one guest."""

    async def identify(self, *_: Any) -> Identity:
        return GUEST


async def connect(app: SocketApp, peer: str, forwarded: str | None = None) -> None:
    headers = [(b"host", b"zataku.example")]
    if forwarded is not None:
        headers.append((b"x-forwarded-for", forwarded.encode()))
    scope: dict[str, Any] = {"type": "websocket", "path": "/socket", "scheme": "ws", "headers": headers}

    async def unused(*_: Any) -> Any:
        raise AssertionError("The endpoint is not reached.")

    await app(scope | {"client": (peer, 5000), "server": ("127.0.0.1", 8000)}, unused, unused)


def socket_app(endpoint: RecordingEndpoint) -> SocketApp:
    return SocketApp(
        cast("Endpoint", endpoint),
        RequestContextReader(("10.0.0.0/8",)),
        cast("Authentication", AnyGuest()),
        RateLimits(ManualClock(), {**RATE_LIMITS, "socket_address": RateLimit(100, 60.0, 100)}),
        Origins("", is_development=False),
    )


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.7", None, "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::/64"),
        ("10.0.0.1", "192.0.2.8", "192.0.2.8"),
        ("10.0.0.1", "2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("10.0.0.1", "203.0.113.5, 192.0.2.9, 10.0.0.2", "192.0.2.9"),
        ("192.0.2.7", "203.0.113.5", "192.0.2.7"),
    ],
)
async def test_a_socket_counts_for_the_address_that_a_trusted_proxy_forwards(
    peer: str, forwarded: str | None, address: str
) -> None:
    endpoint = RecordingEndpoint()
    await connect(socket_app(endpoint), peer, forwarded)
    assert endpoint.addresses == [address]
