"""The listening socket, and the addresses that are printed."""

import re
import socket

import pytest

from zataku.server.process.listen_address import CannotListen, greeting, listen, loopback_url, public_address


def test_the_first_line_is_the_local_address():
    assert greeting("127.0.0.1", 8000, None) == ["Zataku is at http://127.0.0.1:8000/"]


def test_a_server_on_all_interfaces_prints_its_network_address():
    assert greeting("0.0.0.0", 8000, "10.1.2.3") == [
        "Zataku is at http://127.0.0.1:8000/",
        "On your network: http://10.1.2.3:8000/",
    ]


def test_the_public_address_is_the_last_line():
    assert greeting("0.0.0.0", 8000, "10.1.2.3", "https://table.example.org/")[2:] == [
        "For everybody: https://table.example.org/"
    ]


def test_links_lead_to_the_widest_address_that_is_known():
    assert public_address("127.0.0.1", 8000, "10.1.2.3") == "http://127.0.0.1:8000"
    assert public_address("0.0.0.0", 8000, "10.1.2.3") == "http://10.1.2.3:8000"
    assert public_address("0.0.0.0", 8000, None) == "http://127.0.0.1:8000"
    assert public_address("0.0.0.0", 8000, "10.1.2.3", "https://x.org/") == "https://x.org"
    assert loopback_url("0.0.0.0", 8000) == "http://127.0.0.1:8000"


def test_a_machine_without_a_network_prints_only_its_local_address():
    assert greeting("0.0.0.0", 8000, None) == ["Zataku is at http://127.0.0.1:8000/"]


def test_a_server_on_loopback_prints_no_network_address():
    assert len(greeting("127.0.0.1", 8000, "10.1.2.3")) == 1


def test_an_ipv6_address_is_printed_in_brackets():
    assert greeting("::1", 8000, None) == ["Zataku is at http://[::1]:8000/"]


def test_listening_on_all_ipv6_addresses_takes_ipv4_too():
    if not socket.has_dualstack_ipv6():
        pytest.skip("This machine has no IPv6.")
    with listen("::", 0) as listening:
        port = listening.getsockname()[1]
        assert loopback_url("::", port) == f"http://127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port), timeout=5).close()


def test_a_port_in_use_is_an_error_of_one_line():
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(CannotListen, match=r"^Port \d+ on 127\.0\.0\.1 is already in use.*--port"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])


def test_an_address_of_another_machine_is_an_error_with_advice():
    with pytest.raises(CannotListen, match=r"no address 192\.0\.2\.77\. Try --host"):
        listen("192.0.2.77", 0)


@pytest.mark.parametrize("host", ["no such host", "a..b", ".a", "a" * 64, "a\0b"])
def test_an_unknown_host_name_is_an_error_with_advice(host: str):
    with pytest.raises(CannotListen, match=re.escape(f"no address called {host!r}. Try --host")):
        listen(host, 0)
