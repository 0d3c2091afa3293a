"""People who arrive during an attack: they open the home page and join the room, each on a new connection."""

import threading
from http.client import HTTPConnection, HTTPException
from time import perf_counter

import msgspec

from bench.attack.target import AttackedServer
from bench.live.frames import FrameReader
from bench.server_process import masked

ADDRESSES = tuple(f"127.0.1.{number}" for number in range(241, 251))
HOME_SECONDS = 0.05
"""Often enough that the slowest hundredth of a phase is more than its slowest visit."""
JOIN_EVERY = 20
"""Every so many visits the newcomer also joins the room."""
TIMEOUT_SECONDS = 30.0


class Visits(msgspec.Struct):
    """The seconds that visits took, and those that failed."""

    home: list[float] = []
    join: list[float] = []
    failures: list[str] = []


class Newcomers:
    """A thread that visits the server twenty times a second, each time from the next address."""

    def __init__(self, server: AttackedServer) -> None:
        self._server = server
        self._visits = Visits()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start to visit."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after its visit."""
        self._stop.set()
        self._thread.join(2 * TIMEOUT_SECONDS)

    def take(self) -> Visits:
        """The visits since the last call."""
        visits, self._visits = self._visits, Visits()
        return visits

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(HOME_SECONDS):
            number += 1
            visits, address, began = self._visits, ADDRESSES[number % len(ADDRESSES)], perf_counter()
            try:
                self._open_home(address)
                visits.home.append(perf_counter() - began)
                if number % JOIN_EVERY == 0:
                    began = perf_counter()
                    self._join_room(address)
                    visits.join.append(perf_counter() - began)
            except (OSError, HTTPException) as failure:
                visits.failures.append(repr(failure))

    def _open_home(self, address: str) -> None:
        connection = HTTPConnection(
            "127.0.0.1", self._server.port, timeout=TIMEOUT_SECONDS, source_address=(address, 0)
        )
        try:
            connection.request("GET", "/api/home")
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise HTTPException(f"/api/home returned {response.status}.")
        finally:
            connection.close()

    def _join_room(self, address: str) -> None:
        client, rest = self._server.connect(address)
        with client:
            client.settimeout(TIMEOUT_SECONDS)
            client.sendall(masked(self._server.join or b""))
            reader = FrameReader()
            while not (parsed := reader.read(rest)).replies:
                chunk = client.recv(1 << 16)
                if not chunk:
                    raise ConnectionError("The socket of a newcomer was closed.")
                rest = parsed.rest + chunk
