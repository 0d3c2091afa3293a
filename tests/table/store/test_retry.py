"""RetryPolicy with a busy store."""

from collections.abc import Awaitable, Callable
from random import Random

import pytest

from zataku.table import Conflict, Reason, ResultUnknown, TableError, Throttled, TransactionCancelled
from zataku.table.store.retry import Retry, RetryPolicy


class Waits:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def failing(times: int, problem: TableError) -> Callable[[], Awaitable[str]]:
    left = iter(range(times))

    async def call() -> str:
        if next(left, None) is not None:
            raise problem
        return "done"

    return call


CANCELLED = TransactionCancelled("x", [Reason(), Reason("conflict")])
REFUSED = TransactionCancelled("x", [Reason("conflict"), Reason("condition_failed")])


@pytest.mark.parametrize("problem", [Throttled("x"), Conflict("x"), CANCELLED])
async def test_what_was_refused_for_the_moment_is_tried_again(problem: TableError) -> None:
    waits = Waits()
    assert await Retry(Random(1), sleep=waits)(failing(3, problem)) == "done"
    assert len(waits.seconds) == 3


@pytest.mark.parametrize("problem", [REFUSED, ResultUnknown("x"), TableError("x")])
async def test_what_was_refused_for_good_is_not(problem: TableError) -> None:
    with pytest.raises(type(problem)):
        await Retry(Random(1), sleep=Waits())(failing(1, problem))


async def test_a_lost_reply_is_repeated_only_where_twice_is_once() -> None:
    assert await Retry(Random(1), sleep=Waits())(failing(1, ResultUnknown("x")), repeatable=True) == "done"


async def test_patience_ends() -> None:
    waits = Waits()
    with pytest.raises(Throttled):
        await Retry(Random(1), RetryPolicy(max_attempts=4), sleep=waits)(failing(99, Throttled("x")))
    assert len(waits.seconds) == 3


async def test_pauses_grow_to_a_bound_and_differ_between_callers() -> None:
    waits, others = Waits(), Waits()
    for random, pause in ((Random(1), waits), (Random(2), others)):
        with pytest.raises(Throttled):
            await Retry(random, RetryPolicy(max_attempts=12, first_delay=0.01, max_delay=0.1), sleep=pause)(
                failing(99, Throttled("x"))
            )
    assert max(waits.seconds) <= 0.1
    assert waits.seconds[0] <= 0.02
    assert waits.seconds != others.seconds
