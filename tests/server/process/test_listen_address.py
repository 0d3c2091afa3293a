"""What the host reads first."""

import socket

import pytest

from zataku.server.process.listen_address import CannotListen, greeting, listen, loopback_url, public_address


def test_the_first_line_is_the_address_on_this_machine():
    assert greeting("127.0.0.1", 8000, None) == ["Zataku is at http://127.0.0.1:8000/"]


def test_a_server_open_to_the_network_says_where_the_others_find_it():
    assert greeting("0.0.0.0", 8000, "10.1.2.3") == [
        "Zataku is at http://127.0.0.1:8000/",
        "On your network: http://10.1.2.3:8000/",
    ]


def test_a_public_address_is_the_last_line():
    assert greeting("0.0.0.0", 8000, "10.1.2.3", "https://table.example.org/")[2:] == [
        "For everybody: https://table.example.org/"
    ]


def test_links_lead_to_the_widest_address_that_is_known():
    assert public_address("127.0.0.1", 8000, "10.1.2.3") == "http://127.0.0.1:8000"
    assert public_address("0.0.0.0", 8000, "10.1.2.3") == "http://10.1.2.3:8000"
    assert public_address("0.0.0.0", 8000, None) == "http://127.0.0.1:8000"
    assert public_address("0.0.0.0", 8000, "10.1.2.3", "https://x.org/") == "https://x.org"
    assert loopback_url("0.0.0.0", 8000) == "http://127.0.0.1:8000"


def test_a_machine_without_a_network_shows_only_itself():
    assert greeting("0.0.0.0", 8000, None) == ["Zataku is at http://127.0.0.1:8000/"]


def test_a_closed_server_does_not_promise_the_network():
    assert len(greeting("127.0.0.1", 8000, "10.1.2.3")) == 1


def test_an_address_of_the_sixth_kind_is_written_so_that_it_can_be_opened():
    assert greeting("::1", 8000, None) == ["Zataku is at http://[::1]:8000/"]


def test_listening_on_all_addresses_of_the_sixth_kind_takes_the_fourth_too():
    if not socket.has_dualstack_ipv6():
        pytest.skip("This machine has no addresses of the sixth kind.")
    with listen("::", 0) as listening:
        port = listening.getsockname()[1]
        here = ("127.0.0.1", port)
        assert loopback_url("::", port) == f"http://127.0.0.1:{port}"
        socket.create_connection(here, timeout=5).close()


def test_a_taken_port_is_said_in_one_line():
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(CannotListen, match=r"^Port \d+ on 127\.0\.0\.1 is already in use.*--port"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])


def test_an_address_of_another_machine_is_refused_with_advice():
    with pytest.raises(CannotListen, match=r"no address 192\.0\.2\.77\. Try --host"):
        listen("192.0.2.77", 0)


def test_a_name_that_is_no_address_is_refused_with_advice():
    with pytest.raises(CannotListen, match=r"no address called no such host\. Try --host"):
        listen("no such host", 0)
