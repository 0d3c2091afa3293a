"""Work of many connections is done in bounded parts, and addresses take turns."""

import asyncio
from typing import cast

import pytest
from structlog.contextvars import bound_contextvars, get_contextvars
from structlog.testing import capture_logs

from tests.support.memory_transport import ManualLoop
from zataku.realtime.sockets.turn_queue import (
    FREQUENT_PER_SECOND,
    TURNS_PER_FREQUENT,
    RecentTurns,
    TurnQueue,
    Work,
)


class Workers:
    """A queue with some places in a turn, and the names of the work that was done."""

    def __init__(self, per_turn: int = 2, turns_between_frequent: int = 0) -> None:
        self.loop = ManualLoop()
        self.done: list[str] = []
        self._queue = TurnQueue(per_turn, turns_between_frequent)

    def do(self, name: str, address: str = "crowd", work: Work | None = None, *, is_frequent: bool = False) -> bool:
        loop = cast("asyncio.AbstractEventLoop", self.loop)
        return self._queue.do(loop, address, work or (lambda: self.done.append(name)), is_frequent=is_frequent)

    def do_later(self, name: str, address: str = "crowd", *, is_frequent: bool = False) -> None:
        loop = cast("asyncio.AbstractEventLoop", self.loop)
        self._queue.do_later(loop, address, lambda: self.done.append(name), is_frequent=is_frequent)

    def charge(self, places: int) -> None:
        self._queue.charge(places)

    def turn(self) -> list[str]:
        """The work of the next turn."""
        before = len(self.done)
        self.loop.turn()
        return self.done[before:]


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


def test_work_of_a_later_turn_is_not_done_in_the_context_of_a_request():
    workers, seen = Workers(per_turn=1), list[str]()
    with bound_contextvars(request_id="of one request"):
        workers.do("a")
        for _ in range(2):
            workers.do("", work=lambda: seen.extend(get_contextvars()))
    while workers.loop.turn():
        pass
    assert seen == []


def test_those_who_send_little_come_before_those_who_send_much():
    workers = Workers()
    for number in range(10):
        workers.do_later(f"much {number}", is_frequent=True)
    workers.do_later("little")
    assert workers.turn() == ["little", "much 0"]
    assert workers.turn() == ["much 1", "much 2"]


@pytest.mark.parametrize("turns_between_frequent", [0, TURNS_PER_FREQUENT - 1])
def test_those_who_send_much_have_a_place_in_some_turns_however_many_send_little(turns_between_frequent: int):
    workers = Workers(1, turns_between_frequent)
    for number in range(100):
        workers.do_later(f"little {number}")
        workers.do_later(f"much {number}", is_frequent=True)
    turns = [workers.turn() for _ in range(8 * TURNS_PER_FREQUENT)]
    assert [len(names) for names in turns] == [1] * len(turns)
    assert sum(names[0].startswith("much") for names in turns) == 8


def test_work_of_those_who_send_much_is_apart_and_others_come_in_between():
    workers = Workers(per_turn=1, turns_between_frequent=2)
    assert workers.do("much 0", is_frequent=True)
    assert not workers.do("much 1", is_frequent=True)
    assert not workers.do("much 2", is_frequent=True)
    workers.do_later("little")
    assert [workers.turn() for _ in range(7)] == [["little"], [], ["much 1"], [], [], ["much 2"], []]


def test_work_of_those_who_send_much_is_apart_also_when_nothing_waits_in_between():
    workers = Workers(per_turn=1, turns_between_frequent=2)
    for number in range(3):
        assert workers.do(f"much {number}", is_frequent=True)
        workers.turn()
        assert not workers.do("too soon", is_frequent=True)
        workers.turn()
        assert workers.turn() == ["too soon"]
        for _ in range(3):
            assert workers.turn() == []


def test_those_who_send_much_leave_places_to_others_who_come_within_the_turn():
    workers = Workers(per_turn=8)
    for number in range(100):
        workers.do_later(f"much {number}", is_frequent=True)
    assert len(workers.turn()) == 6
    assert not workers.do("much", is_frequent=True)
    assert workers.do("little")
    assert workers.do("little")
    assert not workers.do("little")


def test_work_that_takes_several_places_leaves_those_of_the_next_turns_empty():
    workers = Workers(per_turn=8)
    for number in range(100):
        workers.do_later(str(number))
    workers.charge(7 + 3)
    assert [len(workers.turn()) for _ in range(3)] == [1, 5, 8]


def test_places_are_left_empty_also_when_nothing_waits():
    workers = Workers(per_turn=8)
    workers.charge(7)
    assert workers.do("a")
    assert not workers.do("b")
    workers.turn()
    assert all(workers.do(str(number)) for number in range(8))


def test_a_connection_is_frequent_after_some_turns_within_a_second():
    recent = RecentTurns(10.0)
    assert not any(recent.are_frequent(10.1) for _ in range(FREQUENT_PER_SECOND))
    assert recent.are_frequent(10.9)
    assert not recent.are_frequent(11.0)


def test_a_newcomer_comes_after_those_who_are_there():
    recent = RecentTurns(10.0, is_newcomer=True)
    assert recent.are_frequent(10.5)
    assert not recent.are_frequent(11.0)
