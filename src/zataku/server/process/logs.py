"""One line a happening, on standard error, so that standard output stays for the host."""

import atexit
import logging
import queue
import sys
import threading
from typing import Literal, TextIO

import structlog
from structlog.typing import Processor

MOST_WAITING = 10_000
LAST_WORDS = 2.0
"""Seconds that the last lines get when the process ends."""


class LogWriter:
    """Writes lines in a thread of its own: whoever logs never waits for the one who reads.

    When nobody reads, lines are left out and counted.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._lost = 0
        self._thread = threading.Thread(target=self._write_on, name="logs", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def write(self, text: str) -> int:
        """Have something written."""
        try:
            self._lines.put_nowait(text)
        except queue.Full:
            self._lost += 1
        return len(text)

    def flush(self) -> None:
        """Nothing: lines are written as soon as they can be."""

    def close(self) -> None:
        """Write what is waiting, and end."""
        try:
            self._lines.put(None, timeout=LAST_WORDS)
        except queue.Full:
            # Nobody reads.
            return
        self._thread.join(LAST_WORDS)

    def _write_on(self) -> None:
        while (text := self._lines.get()) is not None:
            if self._lost:
                text, self._lost = f"{text}({self._lost} lines were left out, since nobody read them.)\n", 0
            try:
                self._out.write(text)
                self._out.flush()
            except (OSError, ValueError):
                # Whoever read has gone away; the server goes on.
                pass


def configure_logging(form: Literal["text", "json"] = "text") -> None:
    """Send our own lines and those of the libraries to standard error, in one form."""
    rendered: Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)
    )
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    scribe = LogWriter(sys.stderr)
    structlog.configure(
        processors=[*shared, rendered],
        logger_factory=structlog.WriteLoggerFactory(scribe),  # type: ignore[arg-type]  # it writes and flushes
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(scribe)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendered],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # What comes that is no HTTP, and sockets that are refused, are answered and worth no line each.
    uvicorn = logging.getLogger("uvicorn.error")
    uvicorn.setLevel(logging.ERROR)
    uvicorn.addFilter(lambda line: "without completing handshake" not in line.getMessage())
