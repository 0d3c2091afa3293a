"""Whoever logs never waits for the one who reads."""

import io
import threading

from zataku.server.process.logs import MOST_WAITING, LogWriter


class Blocked(io.StringIO):
    """A pipe that nobody reads until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()

    def write(self, text: str) -> int:
        assert self.opened.wait(10)
        return super().write(text)


def test_lines_come_out_in_order():
    out = io.StringIO()
    scribe = LogWriter(out)
    for number in range(100):
        scribe.write(f"{number}\n")
    scribe.close()
    assert out.getvalue().split() == [str(number) for number in range(100)]


def test_when_nobody_reads_lines_are_left_out_and_counted_and_nobody_waits():
    out = Blocked()
    scribe = LogWriter(out)
    for number in range(MOST_WAITING + 500):
        scribe.write(f"{number}\n")
    out.opened.set()
    scribe.close()
    lines = out.getvalue().splitlines()
    assert lines[0] == "0"
    assert sum("lines were left out" in line for line in lines) == 1
    assert MOST_WAITING <= len(lines) <= MOST_WAITING + 2


def test_a_reader_who_went_away_does_not_stop_the_server():
    out = io.StringIO()
    scribe = LogWriter(out)
    out.close()
    scribe.write("to nobody\n")
    scribe.close()
