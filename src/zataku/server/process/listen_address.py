"""Listening on an address: what the host reads when it works, and when it does not."""

import errno
import socket

EVERYWHERE = frozenset({"0.0.0.0", "::"})


class CannotListen(Exception):
    """The address cannot be had; the message says why and what to do."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that already takes connections, or the reason why there is none."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        both = host == "::" and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=both)
    except OSError as failed:
        raise CannotListen(_reason(failed, host, port)) from failed


def greeting(host: str, port: int, lan: str | None, public_url: str = "") -> list[str]:
    """The lines a host reads first: where to open Zataku on this machine, at home, and from anywhere."""
    lines = [f"Zataku is at {_url(_here(host), port)}"]
    if host in EVERYWHERE and lan is not None:
        lines.append(f"On your network: {_url(lan, port)}")
    if public_url:
        lines.append(f"For everybody: {public_url.rstrip('/')}/")
    return lines


def public_address(host: str, port: int, lan: str | None, public_url: str = "") -> str:
    """The address that goes into links and QR codes, without a slash at its end: the widest that is known."""
    if public_url:
        return public_url.rstrip("/")
    wide = lan if host in EVERYWHERE and lan is not None else _here(host)
    return _url(wide, port).rstrip("/")


def loopback_url(host: str, port: int) -> str:
    """Where a program on this machine asks, without a slash at its end."""
    return _url(_here(host), port).rstrip("/")


def lan_address() -> str | None:
    """This machine's address on its network, if it has one."""
    # Connecting a datagram socket only asks the routing table; nothing is sent. The address is reserved for examples.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if address.startswith("127.") else address


def _here(host: str) -> str:
    if host == "::" and not socket.has_dualstack_ipv6():
        return "::1"
    return "127.0.0.1" if host in EVERYWHERE else host


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _reason(failed: OSError, host: str, port: int) -> str:
    if isinstance(failed, socket.gaierror):
        return f"There is no address called {host}. Try --host 127.0.0.1, or --host 0.0.0.0 for your network."
    match failed.errno:
        case errno.EADDRINUSE:
            return f"Port {port} on {host} is already in use. Stop what uses it, or choose another with --port."
        case errno.EACCES:
            return f"Port {port} needs more rights than you have. Choose one above 1023 with --port."
        case errno.EADDRNOTAVAIL:
            return f"This machine has no address {host}. Try --host 127.0.0.1, or --host 0.0.0.0 for your network."
        case _:
            return f"Cannot listen on {host} port {port}: {failed.strerror or failed}."
