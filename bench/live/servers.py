"""The measured servers: ours as a host starts it, and a plain loop that stores nothing."""

import sys
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import TypeAlias

import msgspec
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from bench.live import comments
from bench.server_process import ServerProcess, free_port

_POST_PATTERN = "LiveComment-Comments-{env}.post_comments"
"""The declared write that stores comments."""


class OpenedRoom(msgspec.Struct, rename="camel"):
    """The fields of an opened room that are read here."""

    room_id: str


class Units(msgspec.Struct, frozen=True):
    """The cost of writing comments so far: transactions and write units."""

    calls: float = 0
    writes: float = 0


class LoopLags(msgspec.Struct, frozen=True):
    """How often the event loop was late, by the milliseconds that it was late at most; each includes the smaller."""

    counts: Mapping[float, float] = {}

    def since(self, before: "LoopLags") -> "LoopLags":
        """The lags after an earlier reading."""
        return LoopLags({bound: count - before.counts[bound] for bound, count in self.counts.items()})

    def within(self, share: float) -> float:
        """The smallest bound that this share of the lags does not exceed."""
        enough = share * max(self.counts.values())
        return min(bound for bound, count in self.counts.items() if count >= enough)


class ZatakuServer(ServerProcess):
    """`zataku serve` with its embedded store on a disk and its default limits."""

    replies = True
    """It replies when a comment is stored."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        command = [sys.executable, "-m", "zataku", "serve", "--no-demo", "--port", str(port), "--data", str(folder)]
        super().__init__("zataku", command, port, log=folder / "log")
        self.join: bytes | None = None

    def start(self) -> None:
        """Start the server and open a room as a guest without a cookie."""
        super().start()
        content = msgspec.json.encode({"name": "Measured"})
        opened = msgspec.json.decode(self.request("POST", "/api/live/rooms", content), type=OpenedRoom)
        self.room_id = opened.room_id
        self._room = f"live/{opened.room_id}"
        self.join = comments.join(self._room)

    def comment(self, number: int) -> bytes:
        """The message that posts a comment."""
        return comments.comment(self._room, number)

    def units(self) -> Units:
        """The units in the server's metrics; there are none before the first comment."""
        samples = {
            sample.name: sample.value for sample in self._samples() if sample.labels.get("pattern") == _POST_PATTERN
        }
        return Units(samples["zataku_table_calls_total"], samples["zataku_table_write_units_total"])

    def loop_lags(self) -> LoopLags:
        """The lags of the server's event loop, from its metrics."""
        return LoopLags(
            {
                1000 * float(sample.labels["le"]): sample.value
                for sample in self._samples()
                if sample.name == "zataku_loop_lag_seconds_bucket"
            }
        )

    def _samples(self) -> Iterator[Sample]:
        for family in text_string_to_metric_families(self.request("GET", "/metrics").decode()):
            yield from family.samples

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """The body of the response to a request of a caller without cookies; raises when it is refused."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.status >= 300:
            raise ConnectionError(f"{method} {path} returned {response.status}: {content!r}")
        return content


class PlainLoopServer(ServerProcess):
    """The simplest broadcast loop: it sends every message to all clients."""

    replies = False
    join = None

    def __init__(self) -> None:
        port = free_port()
        super().__init__("plain loop", [sys.executable, "-m", "bench.realtime.plain_loop", str(port)], port)

    def comment(self, number: int) -> bytes:
        """The message that the server broadcasts to all clients."""
        return comments.event_message(number)

    def units(self) -> Units:
        """No units, because the plain loop stores nothing."""
        return Units()

    def loop_lags(self) -> LoopLags:
        """No lags, because the plain loop does not measure itself."""
        return LoopLags()


MeasuredServer: TypeAlias = ZatakuServer | PlainLoopServer
