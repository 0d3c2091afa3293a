"""The attacked server: as a host starts it, with a room for the audience and rooms that are worth attacking."""

import asyncio
import time
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from uuid import UUID

import msgspec
import psutil

from bench.live.servers import OpenedRoom, ZatakuServer
from zataku.clock import instant_ms
from zataku.live.design import TABLES, Room
from zataku.live.limits import HostId, RoomId, fold_word
from zataku.live.moderation.design import Block
from zataku.live.samples import talk_comments
from zataku.table import open_embedded

BLOCKED_WORDS = 200
EMPTY_ROOMS = 20
"""As many as one socket can join."""
_COSTLY_WORD = fold_word("\ufdfa" * 2)
"""A beginning that every part of a text of the costliest characters shares with the words."""
_PRIMES = "\u2032" * 21
"""The same for texts that are long once they are folded: such a word may be compared at each of their places."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a running server that attackers need, as its address and the ids of its rooms."""

    port: int
    room_id: str
    """The room of the audience."""
    archive_id: str
    """A closed room with many comments."""
    moderated_id: str
    """An open room with many blocked words."""
    open_id: str
    """An open room that nobody else uses."""
    empty_ids: list[str]
    """Open rooms without comments."""


class AttackedServer(ZatakuServer):
    """`zataku serve` with its default limits, on a store with two rooms for the attackers."""

    def __init__(self, folder: Path, seed: int, comments: int) -> None:
        super().__init__(folder)
        self._folder = folder
        self._random = Random(seed)
        self._comments = comments

    def start(self) -> None:
        """Fill the store, start the server on it, and open the rooms of the audience and of the attackers."""
        archive_id, moderated_id, empty_ids = asyncio.run(self._fill_store())
        super().start()
        self.target = Target(
            port=self.port,
            room_id=self.room_id,
            archive_id=archive_id,
            moderated_id=moderated_id,
            open_id=self._open_room(),
            empty_ids=empty_ids,
        )

    def is_ready(self) -> bool:
        """True when the server says that it accepts requests."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def open_files(self) -> int:
        """The number of open file descriptors, most of which are connections."""
        return psutil.Process(self.pid).num_fds()

    def errors(self) -> list[str]:
        """The lines of the log that report a fault of the server."""
        lines = (self._folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if "level=error" in line or "level=critical" in line or "Traceback" in line]

    def _open_room(self) -> str:
        content = msgspec.json.encode({"name": "Attacked"})
        return msgspec.json.decode(self.request("POST", "/api/live/rooms", content), type=OpenedRoom).room_id

    async def _fill_store(self) -> tuple[str, str, list[str]]:
        now = time.time() - 7200
        archive, moderated = (self._room(name, now) for name in ("Archive", "Moderated"))
        empty = [self._room(f"Empty {number}", now) for number in range(EMPTY_ROOMS)]
        words = [
            Block(room_id=moderated.room_id, what="WORD", value=value, at=moderated.created_at)
            for number in range(BLOCKED_WORDS // 2)
            for value in (f"{_COSTLY_WORD} {number}", f"{_PRIMES}{number:02d}{_PRIMES}")
        ]
        store = await open_embedded(self._folder / "zataku.db", TABLES)
        try:
            comments = talk_comments(self._random, now, archive.room_id, self._comments)
            await store.write_many(put=[msgspec.structs.replace(archive, status="CLOSED"), moderated, *empty, *words])
            await store.write_many(put=comments)
        finally:
            await store.close()
        return archive.room_id, moderated.room_id, [room.room_id for room in empty]

    def _room(self, name: str, now: float) -> Room:
        room_id = RoomId(str(UUID(int=self._random.getrandbits(128), version=4)))
        at = instant_ms(now)
        return Room(
            room_id=room_id, name=name, host_id=HostId("user:host"), status="OPEN", created_at=at, updated_at=at
        )
