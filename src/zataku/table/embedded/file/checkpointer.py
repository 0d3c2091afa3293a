"""Moving the write-ahead log into the file, on a thread beside the writer so that nobody waits for it."""

from threading import Event, Thread
from time import sleep

import apsw

from zataku.table.embedded.database import Database
from zataku.table.embedded.file.sqlite_types import Connection

_REST_SECONDS = 0.2


class Checkpointer:
    """Moves the log when asked, on a connection of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asked = Event()
        self._passed = False
        self._busy = False
        self._ending = False
        self._thread = Thread(target=self._run, name="zataku-checkpoint", daemon=True)

    def start(self) -> None:
        """Begin to wait for requests."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what is under way and let go of the file. Safe to call twice."""
        self._ending = True
        self._asked.set()
        self._thread.join()

    def request(self) -> None:
        """Move the log soon; a request while one is under way is the same request."""
        if not self._busy:
            self._busy = True
            self._asked.set()

    def passed(self) -> bool:
        """True once after each time the log has been moved."""
        if self._passed:
            self._passed = False
            return True
        return False

    def _run(self) -> None:
        try:
            connection = self._database.checkpointer()
        except apsw.Error as error:
            self._database.judge(error)
            return
        try:
            self._serve(connection)
        except apsw.Error as error:
            # What the disk did not confirm must not be tried again: damage is remembered for the next call.
            self._database.judge(error)
        finally:
            connection.close()

    def _serve(self, connection: Connection) -> None:
        while True:
            self._asked.wait()
            # Cleared before the work, so that a wish to stop which comes during it is not lost.
            self._asked.clear()
            if self._ending:
                return
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                self._passed = True
            except apsw.FullError:
                # The log stays in place and the writer goes on.
                sleep(_REST_SECONDS)
            self._busy = False
