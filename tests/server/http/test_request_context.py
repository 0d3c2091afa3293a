"""Where a request comes from, and what of it is believed."""

import pytest

from zataku.errors import Forbidden
from zataku.server.http.origins import Origins
from zataku.server.http.request_context import RequestContext, RequestContextReader, cookies_in, is_local_name


def read_context(peer: str, proxies: tuple[str, ...] = (), **headers: str) -> RequestContext:
    lines = [
        (name.replace("_", "-").encode(), text.encode()) for name, text in ({"host": "localhost"} | headers).items()
    ]
    scope = {"headers": lines, "client": (peer, 1), "server": ("203.0.113.5", 8000), "scheme": "http"}
    return RequestContextReader(proxies).read(scope)


def test_a_stranger_cannot_say_that_it_comes_from_elsewhere():
    seen = read_context("203.0.113.7", x_forwarded_for="10.0.0.1", x_forwarded_proto="https")
    assert (seen.address, seen.is_secure) == ("203.0.113.7", False)


def test_a_listed_proxy_is_believed_what_it_says_of_the_caller():
    seen = read_context("10.0.0.1", ("10.0.0.0/8",), x_forwarded_for="203.0.113.7", x_forwarded_proto="https")
    assert (seen.address, seen.is_secure) == ("203.0.113.7", True)


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("198.51.100.9, 203.0.113.7", "203.0.113.7"),
        ("203.0.113.7, 10.0.0.2", "203.0.113.7"),
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("nonsense", "10.0.0.1"),
        ("nonsense, 203.0.113.7", "203.0.113.7"),
        ("", "10.0.0.1"),
    ],
)
def test_of_a_chain_the_last_who_is_no_proxy_of_ours_counts(said: str, address: str):
    assert read_context("10.0.0.1", ("10.0.0.0/8",), x_forwarded_for=said).address == address


def test_only_a_request_of_this_very_machine_is_near():
    assert read_context("127.0.0.1").is_direct
    assert read_context("::1").is_direct
    assert read_context("::ffff:127.0.0.1").is_direct
    assert not read_context("192.168.1.5").is_direct
    # A proxy on this machine that nobody listed: its callers are not near.
    assert not read_context("127.0.0.1", x_forwarded_for="203.0.113.7").is_direct
    assert not read_context("127.0.0.1", ("127.0.0.1",), x_forwarded_for="203.0.113.7").is_direct
    # A foreign page that had its name resolve to this machine.
    assert not read_context("127.0.0.1", host="evil.example.com").is_direct


def test_a_server_on_one_address_is_reached_there_from_its_own_machine():
    assert read_context("203.0.113.5", host="203.0.113.5:8000").is_direct
    assert not read_context("203.0.113.5", host="evil.example.com").is_direct
    assert not read_context("203.0.113.6", host="203.0.113.5:8000").is_direct
    assert not read_context("203.0.113.5", host="203.0.113.5:8000", via="1.1 proxy").is_direct


def test_who_comes_by_a_proxy_that_says_nothing_is_not_near():
    silent = read_context("127.0.0.1", ("127.0.0.1",))
    # The command line of this machine looks the same; it has a token.
    assert (silent.is_direct, silent.is_local) == (False, True)


@pytest.mark.parametrize(
    "host",
    ["localhost:8000", "127.0.0.1", "192.168.1.5:80", "[::1]:8000", "[fe80::1]", "table.local", "table"],
)
def test_names_of_machines_nearby(host: str):
    assert is_local_name(host)


@pytest.mark.parametrize(
    "host", ["example.com", "example.com:8000", "8.8.8.8", "localhost.evil.com", "127.0.0.1.nip.io"]
)
def test_names_that_anybody_may_have(host: str):
    assert not is_local_name(host)


OURS = "https://table.example.org"


@pytest.mark.parametrize(
    ("public_url", "host", "headers", "allowed"),
    [
        (OURS, "table.example.org", {"origin": OURS, "cookie": "a=b"}, True),
        (OURS + "/", "table.example.org", {"origin": OURS, "cookie": "a=b"}, True),
        (OURS + ":443", "table.example.org", {"origin": OURS, "cookie": "a=b"}, True),
        (OURS, "table.example.org", {"origin": "http://table.example.org"}, False),
        (OURS, "table.example.org", {"origin": "https://evil.example.org", "cookie": "a=b"}, False),
        (OURS, "table.example.org", {"origin": "https://table.example.org.evil.com"}, False),
        (OURS, "table.example.org", {"origin": "null"}, False),
        (OURS, "127.0.0.1:8000", {"origin": "http://127.0.0.1:8000"}, False),
        ("", "127.0.0.1:8000", {"origin": "http://127.0.0.1:8000"}, True),
        ("", "192.168.1.5:8000", {"origin": "http://192.168.1.5:8000"}, True),
        ("", "192.168.1.5:8000", {"origin": "http://192.168.1.6:8000"}, False),
        ("", "192.168.1.5:8000", {"origin": "http://192.168.1.5:9000"}, False),
        ("", "rebound.example.com:8000", {"origin": "http://rebound.example.com:8000"}, False),
        ("", "localhost:8000", {"sec-fetch-site": "same-origin", "cookie": "a=b"}, True),
        ("", "localhost:8000", {"sec-fetch-site": "none", "cookie": "a=b"}, True),
        ("", "localhost:8000", {"sec-fetch-site": "cross-site", "cookie": "a=b"}, False),
        ("", "localhost:8000", {"sec-fetch-site": "same-site"}, False),
        ("", "localhost:8000", {"cookie": "a=b"}, False),
        ("", "localhost:8000", {}, True),
        ("", "localhost:8000", {"authorization": "Bearer zk_1", "origin": "https://evil.example.org"}, True),
        ("", "localhost:8000", {"authorization": "Bearer zk_1", "cookie": "a=b"}, False),
    ],
)
def test_only_our_own_pages_may_write(public_url: str, host: str, headers: dict[str, str], allowed: bool):
    asked = RequestContext(id="1", address="192.168.1.9", is_secure=False, host=host, is_local=False, is_direct=False)
    origins = Origins(public_url)
    if allowed:
        origins.check(asked, headers)
    else:
        with pytest.raises(Forbidden, match=r"another address|Origin"):
            origins.check(asked, headers)


def test_while_developing_a_page_of_another_port_may_write():
    asked = RequestContext(
        id="1", address="127.0.0.1", is_secure=False, host="127.0.0.1:8000", is_local=True, is_direct=True
    )
    Origins("", is_development=True).check(asked, {"origin": "http://localhost:5173", "cookie": "a=b"})
    with pytest.raises(Forbidden):
        Origins("", is_development=True).check(asked, {"origin": "http://localhost.evil.com", "cookie": "a=b"})


def test_cookies_are_read_however_they_are_written():
    assert cookies_in({"cookie": 'a=1; b="2";c=3=4; ; broken; a=5'}) == {"a": "1", "b": "2", "c": "3=4"}
    assert cookies_in({}) == {}
