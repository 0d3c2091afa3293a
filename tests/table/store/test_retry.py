"""Retries of calls that a store refuses or whose reply is lost."""

from collections.abc import Awaitable, Callable
from random import Random

import pytest

from zataku.table import Conflict, Reason, ResultUnknown, TableError, Throttled, TransactionCancelled
from zataku.table.store.retry import Retry, RetryPolicy


class RecordedSleep:
    """A sleep that returns at once and records its seconds."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def fail_then_succeed(times: int, problem: TableError) -> Callable[[], Awaitable[str]]:
    left = iter(range(times))

    async def call() -> str:
        if next(left, None) is not None:
            raise problem
        return "done"

    return call


CANCELLED = TransactionCancelled("x", [Reason(), Reason("conflict")])
REFUSED = TransactionCancelled("x", [Reason("conflict"), Reason("condition_failed")])


@pytest.mark.parametrize("problem", [Throttled("x"), Conflict("x"), CANCELLED])
async def test_a_throttled_or_conflicting_call_is_retried(problem: TableError) -> None:
    sleep = RecordedSleep()
    assert await Retry(Random(1), sleep=sleep)(fail_then_succeed(3, problem)) == "done"
    assert len(sleep.seconds) == 3


@pytest.mark.parametrize("problem", [REFUSED, ResultUnknown("x"), TableError("x")])
async def test_a_call_that_failed_for_another_reason_is_not_retried(problem: TableError) -> None:
    with pytest.raises(type(problem)):
        await Retry(Random(1), sleep=RecordedSleep())(fail_then_succeed(1, problem))


async def test_a_call_without_a_reply_is_retried_when_it_is_repeatable() -> None:
    assert (
        await Retry(Random(1), sleep=RecordedSleep())(fail_then_succeed(1, ResultUnknown("x")), repeatable=True)
        == "done"
    )


async def test_retries_stop_at_the_maximum_number_of_attempts() -> None:
    sleep = RecordedSleep()
    with pytest.raises(Throttled):
        await Retry(Random(1), RetryPolicy(max_attempts=4), sleep=sleep)(fail_then_succeed(99, Throttled("x")))
    assert len(sleep.seconds) == 3


async def test_delays_grow_up_to_a_maximum_and_differ_between_callers() -> None:
    sleep, other_sleep = RecordedSleep(), RecordedSleep()
    for random, recorded in ((Random(1), sleep), (Random(2), other_sleep)):
        with pytest.raises(Throttled):
            await Retry(random, RetryPolicy(max_attempts=12, first_delay=0.01, max_delay=0.1), sleep=recorded)(
                fail_then_succeed(99, Throttled("x"))
            )
    assert max(sleep.seconds) <= 0.1
    assert sleep.seconds[0] <= 0.02
    assert sleep.seconds != other_sleep.seconds
