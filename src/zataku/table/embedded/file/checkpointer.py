"""The thread that moves the write-ahead log into the file, in parallel to the writer so that no call waits for it."""

from threading import Event, Thread
from time import sleep

import apsw

from zataku.table.embedded.database import Database
from zataku.table.embedded.file.sqlite_types import Connection

_FULL_DISK_SECONDS = 0.2


class Checkpointer:
    """Checkpoints on request, on a connection of its own. The writer resets `is_finished` when it has seen it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_finished = False
        self._requested = Event()
        self._is_busy = False
        self._is_stopping = False
        self._thread = Thread(target=self._run, name="zataku-checkpoint", daemon=True)

    def start(self) -> None:
        """Start waiting for requests."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the checkpoint under way and close the connection. Safe to call twice."""
        self._is_stopping = True
        self._requested.set()
        self._thread.join()

    def request(self) -> None:
        """Checkpoint soon; a request during a checkpoint is the same request."""
        if not self._is_busy:
            self._is_busy = True
            self._requested.set()

    def _run(self) -> None:
        try:
            connection = self._database.open_checkpointer()
        except apsw.Error as error:
            self._database.translate(error)
            return
        try:
            self._serve(connection)
        except apsw.Error as error:
            # What the disk did not confirm must not be tried again: damage is recorded for the next call.
            self._database.translate(error)
        finally:
            connection.close()

    def _serve(self, connection: Connection) -> None:
        while True:
            self._requested.wait()
            # Cleared before the work, so that a stop during it is not lost.
            self._requested.clear()
            if self._is_stopping:
                return
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                self.is_finished = True
            except apsw.FullError:
                # The log stays in place and the writer continues.
                sleep(_FULL_DISK_SECONDS)
            self._is_busy = False
