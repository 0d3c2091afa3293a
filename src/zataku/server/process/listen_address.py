"""The address that the server listens on: its socket, its URLs, and the errors of one that cannot be used."""

import errno
import socket

ALL_INTERFACES = frozenset({"0.0.0.0", "::"})


class CannotListen(Exception):
    """The address cannot be used. The message says why and what to do."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections. Raises CannotListen."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        is_dual_stack = host == "::" and socket.has_dualstack_ipv6()
        return socket.create_server((host, port), family=family, backlog=2048, dualstack_ipv6=is_dual_stack)
    except OSError as error:
        raise CannotListen(_reason(error, host, port)) from error
    except ValueError as error:
        # An empty label, one of more than 63 letters, or a NUL.
        raise CannotListen(_no_address(host)) from error


def greeting(host: str, port: int, lan: str | None, public_url: str = "") -> list[str]:
    """The first lines of output: the address on this machine, in its network, and the public one."""
    lines = [f"Zataku is at {_url(_local_host(host), port)}"]
    if host in ALL_INTERFACES and lan is not None:
        lines.append(f"On your network: {_url(lan, port)}")
    if public_url:
        lines.append(f"For everybody: {public_url.rstrip('/')}/")
    return lines


def public_address(host: str, port: int, lan: str | None, public_url: str = "") -> str:
    """The address for links and QR codes, without a slash at its end: the widest that is known."""
    if public_url:
        return public_url.rstrip("/")
    address = lan if host in ALL_INTERFACES and lan is not None else _local_host(host)
    return _url(address, port).rstrip("/")


def loopback_url(host: str, port: int) -> str:
    """The address for programs on this machine, without a slash at its end."""
    return _url(_local_host(host), port).rstrip("/")


def lan_address() -> str | None:
    """This machine's address on its network, if it has one."""
    # Connecting a datagram socket only reads the routing table; nothing is sent. The address is reserved for examples.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if address.startswith("127.") else address


def _local_host(host: str) -> str:
    if host == "::" and not socket.has_dualstack_ipv6():
        return "::1"
    return "127.0.0.1" if host in ALL_INTERFACES else host


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _reason(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror):
        return _no_address(host)
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} on {host} is already in use. Stop what uses it, or choose another with --port."
        case errno.EACCES:
            return f"Port {port} needs more rights than you have. Choose one above 1023 with --port."
        case errno.EADDRNOTAVAIL:
            return f"This machine has no address {host}. Try --host 127.0.0.1, or --host 0.0.0.0 for your network."
        case _:
            return f"Cannot listen on {host} port {port}: {error.strerror or error}."


def _no_address(host: str) -> str:
    return f"There is no address called {host!r}. Try --host 127.0.0.1, or --host 0.0.0.0 for your network."
