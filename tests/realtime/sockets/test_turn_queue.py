"""Work of many connections is done in bounded parts, and addresses take turns."""

import asyncio
from typing import cast

from structlog.testing import capture_logs

from tests.support.memory_transport import ManualLoop
from zataku.realtime.sockets.turn_queue import TurnQueue, Work


class Workers:
    """A queue with two places in a turn, and the names of the work that was done."""

    def __init__(self) -> None:
        self.loop = ManualLoop()
        self.done: list[str] = []
        self._queue = TurnQueue(2)

    def do(self, name: str, address: str = "crowd", work: Work | None = None) -> bool:
        loop = cast("asyncio.AbstractEventLoop", self.loop)
        work = work or (lambda: self.done.append(name))
        if self._queue.take_place(loop):
            work()
            return True
        self._queue.do_later(loop, address, work)
        return False

    def do_later(self, name: str, address: str = "crowd") -> None:
        self._queue.do_later(cast("asyncio.AbstractEventLoop", self.loop), address, lambda: self.done.append(name))


def test_work_is_done_at_once_while_the_turn_has_room():
    workers = Workers()
    assert [workers.do(name) for name in "abc"] == [True, True, False]
    assert workers.done == ["a", "b"]
    workers.loop.turn()
    assert workers.done == ["a", "b", "c"]


def test_a_turn_does_a_bounded_part_in_order():
    workers = Workers()
    for name in "abcdefg":
        workers.do(name)
    assert len(workers.done) == 2
    workers.loop.turn()
    assert len(workers.done) == 4
    assert not workers.do("h")
    while workers.loop.turn():
        pass
    assert "".join(workers.done) == "abcdefgh"


def test_every_turn_begins_with_room():
    workers = Workers()
    workers.do("a")
    workers.do("b")
    workers.loop.turn()
    assert workers.do("c")
    assert workers.do("d")
    assert not workers.do("e")


def test_what_is_done_later_waits_for_the_next_turn():
    workers = Workers()
    workers.do_later("a")
    assert workers.done == []
    workers.loop.turn()
    assert workers.done == ["a"]


def test_work_that_adds_work_leaves_it_to_the_next_turn():
    workers = Workers()
    workers.do("a", work=lambda: workers.do_later("b"))
    assert workers.done == []
    workers.loop.turn()
    assert workers.done == ["b"]
    workers.do_later("c")
    workers.do("d", work=lambda: workers.do_later("e"))
    workers.loop.turn()
    assert workers.done == ["b", "c"]


def test_one_connection_does_not_wait_for_a_crowd_of_another_address():
    workers = Workers()
    for number in range(100):
        workers.do(f"crowd {number}")
    workers.do("newcomer", "elsewhere")
    workers.loop.turn()
    assert "newcomer" in workers.done
    while workers.loop.turn():
        pass
    assert len(workers.done) == 101


def test_work_that_fails_holds_up_nobody():
    workers = Workers()
    workers.do("a")
    workers.do("b")
    workers.do("", work=lambda: 1 // 0 and None)
    workers.do("c")
    with capture_logs() as lines:
        workers.loop.turn()
    assert workers.done == ["a", "b", "c"]
    assert [line["event"] for line in lines] == ["connection_work_failed"]
