"""Log lines on standard error, one per event; standard output is for the host."""

import atexit
import json
import logging
import queue
import sys
import threading
from typing import Literal, TextIO, TypeAlias

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LogForm: TypeAlias = Literal["text", "json"]

MAX_QUEUED_LINES = 10_000
FLUSH_SECONDS = 2.0
"""How long the last lines may take when the process ends."""


class LogWriter:
    """Writes lines in a thread of its own, so that logging never blocks on a slow reader.

    While the queue is full, lines are dropped and counted.
    """

    def __init__(self, out: TextIO, form: LogForm = "text") -> None:
        self._out = out
        self._form = form
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_QUEUED_LINES)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write_lines, name="logs", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def write(self, text: str) -> int:
        """Queue a line."""
        try:
            self._lines.put_nowait(text)
        except queue.Full:
            self._dropped += 1
        return len(text)

    def flush(self) -> None:
        """A no-op: the thread flushes every line."""

    def close(self) -> None:
        """Write the queued lines and end the thread."""
        try:
            self._lines.put(None, timeout=FLUSH_SECONDS)
        except queue.Full:
            # The reader is stuck.
            return
        self._thread.join(FLUSH_SECONDS)

    def _write_lines(self) -> None:
        while (text := self._lines.get()) is not None:
            if self._dropped:
                text, self._dropped = f"{text}{self._report_dropped(self._dropped)}\n", 0
            try:
                self._out.write(text)
                self._out.flush()
            except (OSError, ValueError):
                # The reader has closed the stream; the server continues.
                pass

    def _report_dropped(self, lines: int) -> str:
        if self._form == "json":
            return json.dumps({"event": "log_lines_dropped", "lines": lines})
        return f"event=log_lines_dropped lines={lines}"


_render_logfmt = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)


def render_text(logger: WrappedLogger, method_name: str, event: EventDict) -> str:
    """The line of an event in text form. Unprintable characters are escaped in every field.

    Values come from clients: a control character could forge a line, or an escape sequence reach a terminal.
    """
    line = _render_logfmt(logger, method_name, event)
    return line if line.isprintable() else "".join(_escape(letter) for letter in line)


def _escape(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def configure_logging(form: LogForm = "text") -> None:
    """Send the lines of structlog and of the standard library to standard error, in one form."""
    renderer: Processor = structlog.processors.JSONRenderer() if form == "json" else render_text
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    writer = LogWriter(sys.stderr, form)
    structlog.configure(
        processors=[*shared, renderer],
        logger_factory=structlog.WriteLoggerFactory(writer),  # type: ignore[arg-type]  # it writes and flushes
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(writer)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # Malformed requests, rejected sockets and exports that are ended have lines of their own.
    uvicorn = logging.getLogger("uvicorn.error")
    uvicorn.setLevel(logging.ERROR)
    uvicorn.addFilter(lambda line: "returned without completing" not in line.getMessage())
