"""The context of a request: its address, and which headers of proxies are trusted."""

import pytest

from zataku.server.http.request_context import RequestContext, RequestContextReader, cookies_in, is_local_name


def read_context(
    peer: str, proxies: tuple[str, ...] = (), *more: tuple[bytes, bytes], **headers: str
) -> RequestContext:
    raw_headers = [
        (name.replace("_", "-").encode(), text.encode()) for name, text in ({"host": "localhost"} | headers).items()
    ]
    raw_headers += more
    scope = {"headers": raw_headers, "client": (peer, 1), "server": ("203.0.113.5", 8000), "scheme": "http"}
    return RequestContextReader(proxies).read(scope)


def test_an_untrusted_peer_cannot_forge_its_address():
    context = read_context("203.0.113.7", x_forwarded_for="10.0.0.1", x_forwarded_proto="https")
    assert (context.address, context.is_secure) == ("203.0.113.7", False)


def test_a_trusted_proxy_names_the_client():
    context = read_context("10.0.0.1", ("10.0.0.0/8",), x_forwarded_for="203.0.113.7", x_forwarded_proto="https")
    assert (context.address, context.is_secure) == ("203.0.113.7", True)


@pytest.mark.parametrize(
    ("forwarded_for", "address"),
    [
        ("198.51.100.9, 203.0.113.7", "203.0.113.7"),
        ("203.0.113.7, 10.0.0.2", "203.0.113.7"),
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("nonsense", "10.0.0.1"),
        ("nonsense, 203.0.113.7", "203.0.113.7"),
        ("", "10.0.0.1"),
        ("198.51.100.9, 203.0.113.7:4444, 10.0.0.2:80", "203.0.113.7"),
        ("[2001:db8::1]:4444", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:db8::1:4444", "2001:db8::1:4444"),
        (":80", "10.0.0.1"),
    ],
)
def test_the_client_is_the_last_untrusted_address_of_a_chain(forwarded_for: str, address: str):
    assert read_context("10.0.0.1", ("10.0.0.0/8",), x_forwarded_for=forwarded_for).address == address


def test_a_chain_may_come_in_several_headers():
    lines = [(b"x-forwarded-for", line) for line in (b"198.51.100.9", b"203.0.113.7, 10.0.0.3", b"10.0.0.2")]
    assert read_context("10.0.0.1", ("10.0.0.0/8",), *lines).address == "203.0.113.7"


def test_only_a_request_of_this_machine_is_direct():
    assert read_context("127.0.0.1").is_direct
    assert read_context("::1").is_direct
    assert read_context("::ffff:127.0.0.1").is_direct
    assert not read_context("192.168.1.5").is_direct
    # Behind a proxy on this machine that is not configured, callers are not local.
    assert not read_context("127.0.0.1", x_forwarded_for="203.0.113.7").is_direct
    assert not read_context("127.0.0.1", ("127.0.0.1",), x_forwarded_for="203.0.113.7").is_direct
    # DNS rebinding: the name of a foreign page resolves to this machine.
    assert not read_context("127.0.0.1", host="evil.example.com").is_direct


def test_a_server_on_one_address_is_reached_there_from_its_own_machine():
    assert read_context("203.0.113.5", host="203.0.113.5:8000").is_direct
    assert not read_context("203.0.113.5", host="evil.example.com").is_direct
    assert not read_context("203.0.113.6", host="203.0.113.5:8000").is_direct
    assert not read_context("203.0.113.5", host="203.0.113.5:8000", via="1.1 proxy").is_direct


def test_a_request_by_a_trusted_proxy_is_not_direct():
    context = read_context("127.0.0.1", ("127.0.0.1",))
    # The command line on this machine cannot be told apart; it has a token.
    assert (context.is_direct, context.is_local) == (False, True)


@pytest.mark.parametrize(
    "host",
    ["localhost:8000", "127.0.0.1", "192.168.1.5:80", "[::1]:8000", "[fe80::1]", "table.local", "table"],
)
def test_names_of_nearby_machines_are_local(host: str):
    assert is_local_name(host)


@pytest.mark.parametrize(
    "host", ["example.com", "example.com:8000", "8.8.8.8", "localhost.evil.com", "127.0.0.1.nip.io"]
)
def test_names_that_can_be_registered_are_not_local(host: str):
    assert not is_local_name(host)


def test_cookies_are_parsed_in_all_their_forms():
    assert cookies_in({"cookie": 'a=1; b="2";c=3=4; ; broken; a=5'}) == {"a": "1", "b": "2", "c": "3=4"}
    assert cookies_in({}) == {}
