"""Logging never blocks on a slow reader, and an event is one line whatever its fields hold."""

import io
import subprocess
import sys
import threading

import pytest

from zataku.server.process.logs import MAX_QUEUED_LINES, LogForm, LogWriter, render_text


class BlockedStream(io.StringIO):
    """A stream that blocks until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.opened = threading.Event()

    def write(self, text: str) -> int:
        self.entered.set()
        assert self.opened.wait(10)
        return super().write(text)


def test_lines_are_written_in_order():
    out = io.StringIO()
    writer = LogWriter(out)
    for number in range(100):
        writer.write(f"{number}\n")
    writer.close()
    assert out.getvalue().split() == [str(number) for number in range(100)]


@pytest.mark.parametrize(
    ("form", "beginning"),
    [("text", "event=log_lines_dropped lines="), ("json", '{"event": "log_lines_dropped", "lines": ')],
)
def test_lines_are_dropped_and_counted_while_the_queue_is_full(form: LogForm, beginning: str):
    out = BlockedStream()
    writer = LogWriter(out, form)
    writer.write("0\n")
    assert out.entered.wait(10)
    for number in range(1, MAX_QUEUED_LINES + 500):
        writer.write(f"{number}\n")
    out.opened.set()
    writer.close()
    lines = out.getvalue().splitlines()
    assert lines[0] == "0"
    assert sum(line.startswith(beginning) for line in lines) == 1
    assert MAX_QUEUED_LINES <= len(lines) <= MAX_QUEUED_LINES + 2


def test_a_closed_stream_does_not_stop_the_log_writer():
    out = io.StringIO()
    writer = LogWriter(out)
    out.close()
    writer.write("lost\n")
    writer.close()


@pytest.mark.parametrize(
    ("letter", "escaped"),
    [
        ("\n", r"\n"),
        ("\r", r"\r"),
        ("\t", r"\t"),
        ("\0", r"\x00"),
        ("\x1b", r"\x1b"),
        ("\x7f", r"\x7f"),
        ("\x9b", r"\x9b"),
        ("\u2028", r"\u2028"),
        ("\u202e", r"\u202e"),
        ("\udc80", r"\udc80"),
        ("\U000e0001", r"\U000e0001"),
    ],
)
def test_unprintable_characters_are_escaped_in_every_field(letter: str, escaped: str):
    fields = {"event": f"e{letter}", "path": f"/a{letter}b", "name": f"two words{letter}", "where": [letter]}
    line = render_text(None, "info", {"timestamp": "now", "level": "info", **fields})
    assert line.isprintable()
    assert line.startswith(
        f'timestamp=now level=info event=e{escaped} path=/a{escaped}b name="two words{escaped}" where='
    )


def test_printable_text_is_logged_as_it_is():
    event = {"timestamp": "now", "level": "info", "event": "e", "path": "/感想/é", "name": "two words"}
    assert render_text(None, "info", event) == 'timestamp=now level=info event=e path=/感想/é name="two words"'


def test_the_process_logs_a_forged_line_as_part_of_its_field():
    program = """
import logging, structlog
from zataku.server.process.logs import configure_logging
configure_logging()
structlog.get_logger().error("request_failed", path="/a\\r\\x1b[2Jlevel=info")
logging.getLogger("library").error("first\\x1b[2J\\rsecond")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert b"\r" not in run.stderr
    assert b"\x1b" not in run.stderr
    assert run.stderr.count(b"\n") == 2


def test_uvicorn_says_nothing_of_responses_and_handshakes_that_were_ended():
    code = (
        "import logging; from zataku.server.process.logs import configure_logging; configure_logging()\n"
        "for name in ('response', 'handshake', 'nothing'):\n"
        "    words = 'returned without completing' if name != 'nothing' else 'failed'\n"
        "    logging.getLogger('uvicorn.error').error(f'ASGI callable {words} {name}.')"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert "ASGI callable failed nothing." in found.stderr
    assert "without completing" not in found.stderr
