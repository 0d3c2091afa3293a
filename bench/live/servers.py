"""The measured servers: ours as a host starts it, and a plain loop that stores nothing."""

import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import TypeAlias

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from bench.live import comments
from bench.server_process import ServerProcess, free_port

_POSTING = "LiveComment-Comments-{env}.post_comments"
"""The access pattern that comments are written by."""


class Opened(msgspec.Struct, rename="camel"):
    """The fields of an opened room that are used here."""

    room_id: str


class Units(msgspec.Struct, frozen=True):
    """The cost of writing comments so far: transactions and write units."""

    calls: float = 0
    writes: float = 0


class Ours(ServerProcess):
    """`zataku serve` with its embedded store on a disk and all its limits as they are."""

    replies = True
    """It replies when a comment is stored."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        command = [sys.executable, "-m", "zataku", "serve", "--no-demo", "--port", str(port), "--data", str(folder)]
        super().__init__("zataku", command, port, log=folder / "log")
        self.join: bytes | None = None

    def start(self) -> None:
        """Start it and open a room, as a guest who sends no cookie."""
        super().start()
        content = msgspec.json.encode({"name": "Measured"})
        opened = msgspec.json.decode(self._request("POST", "/api/live/rooms", content), type=Opened)
        self._room = f"live/{opened.room_id}"
        self.join = comments.join(self._room)

    def comment(self, number: int) -> bytes:
        """The message of a comment."""
        return comments.comment(self._room, number)

    def units(self) -> Units:
        """The units that the server's metrics report, after the first comment."""
        found = {
            sample.name: sample.value
            for family in text_string_to_metric_families(self._request("GET", "/metrics").decode())
            for sample in family.samples
            if sample.labels.get("pattern") == _POSTING
        }
        return Units(found["zataku_table_calls_total"], found["zataku_table_write_units_total"])

    def _request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise ConnectionError(f"{method} {path} was answered {answer.status}: {content!r}")
        return content


class Plain(ServerProcess):
    """The simplest broadcast loop: it sends every message to all clients."""

    replies = False
    join = None

    def __init__(self) -> None:
        port = free_port()
        super().__init__("plain loop", [sys.executable, "-m", "bench.realtime.plain", str(port)], port)

    def comment(self, number: int) -> bytes:
        """The message that all clients are to get."""
        return comments.event_message(number)

    def units(self) -> Units:
        """It stores nothing."""
        return Units()


MeasuredServer: TypeAlias = Ours | Plain
