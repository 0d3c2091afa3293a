"""Logging never blocks on a slow reader."""

import io
import threading

import pytest

from zataku.server.process.logs import MAX_QUEUED_LINES, LogForm, LogWriter


class BlockedStream(io.StringIO):
    """A stream that blocks until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()

    def write(self, text: str) -> int:
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
    for number in range(MAX_QUEUED_LINES + 500):
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
