"""Rate limits: a burst of five comments and then one a second, slow mode, and five reactions a second."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.live.entities import SORA, YUNA, comment
from tests.support.stores import START
from zataku.clock import instant_seconds
from zataku.errors import RateLimited
from zataku.live.rules.rate_limits import (
    MAX_COMMENT_BURST,
    REACTIONS_PER_SECOND,
    CommentRate,
    ReactionLimit,
    accept_comment,
    load_rates,
    prune_rates,
    spend_token,
)


# The last pause ends a tenth of a millisecond before there is a token.
@example([0.0] * 5 + [0.9999])
@given(st.lists(st.floats(0, 3), min_size=1, max_size=60))
def test_a_sender_never_gets_more_tokens_than_the_burst_and_one_a_second(pauses: list[float]) -> None:
    rates: dict = {}
    now, accepted = START, 0
    waits: list[float] = []
    for pause in pauses:
        now += pause
        try:
            rates[SORA] = spend_token(rates, SORA, now)
            accepted += 1
        except RateLimited as error:
            waits.append(error.retry_after)
    assert all(0 < wait <= 1 for wait in waits)
    assert accepted <= MAX_COMMENT_BURST + (now - START) + 1e-6


def test_a_refused_attempt_costs_nothing_and_says_when_to_try_again() -> None:
    rates = {SORA: CommentRate(START, 0.25)}
    with pytest.raises(RateLimited) as refused:
        spend_token(rates, SORA, START)
    assert refused.value.retry_after == 0.75
    assert spend_token(rates, SORA, START + 0.75).tokens == 0
    assert spend_token(rates, YUNA, START).tokens == MAX_COMMENT_BURST - 1


@pytest.mark.parametrize(
    ("accepted_at", "slow_mode_seconds", "retry_after"),
    [(None, 30, None), (START, None, None), (START - 30, 30, None), (START - 10, 30, 20), (START, 1, 1)],
)
def test_slow_mode_counts_from_the_last_accepted_comment(
    accepted_at: float | None, slow_mode_seconds: int | None, retry_after: float | None
) -> None:
    rate = CommentRate(START, 3, accepted_at)
    if retry_after is None:
        assert accept_comment(rate, START, slow_mode_seconds) == CommentRate(START, 3, START)
    else:
        with pytest.raises(RateLimited) as refused:
            accept_comment(rate, START, slow_mode_seconds)
        assert (refused.value.code, refused.value.retry_after) == ("slow_mode", retry_after)


@given(st.floats(-100, 100), st.sampled_from([None, 30]))
def test_pruning_drops_only_rates_that_limit_nothing_and_moves_future_times_to_now(
    age: float, slow_mode_seconds: int | None
) -> None:
    rates = prune_rates({SORA: CommentRate(START - age, 0, START - age)}, START, slow_mode_seconds)
    if SORA in rates:
        assert rates[SORA].at <= START
        assert (rates[SORA].accepted_at or START) <= START
    else:
        assert age >= max(MAX_COMMENT_BURST, slow_mode_seconds or 0)


def test_a_new_owner_continues_slow_mode_but_grants_a_full_burst() -> None:
    rates = load_rates([comment(1), comment(2), comment(3, sender=YUNA)])
    last = instant_seconds(comment(2).created_at)
    assert rates[SORA] == CommentRate(last, MAX_COMMENT_BURST, last)
    assert set(rates) == {SORA, YUNA}


def test_reactions_are_counted_by_sender_and_second() -> None:
    limit = ReactionLimit()
    in_one_second = [limit.accepts(SORA, START + at / 10) for at in range(REACTIONS_PER_SECOND + 2)]
    assert in_one_second == [True] * REACTIONS_PER_SECOND + [False] * 2
    assert limit.accepts(YUNA, START + 0.9)
    assert limit.accepts(SORA, START + 1)
