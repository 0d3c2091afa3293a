"""How often somebody may do something."""

import pytest

from tests.support.stores import START
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimit, RateLimitName, RateLimits, client_network
from zataku.clock import ManualClock
from zataku.errors import RateLimited


def allowed(rate_limits: RateLimits, occasion: RateLimitName, *whose: str, most: int = 100_000) -> int:
    for number in range(most):
        try:
            rate_limits.consume(occasion, *whose)
        except RateLimited:
            return number
    return most


@pytest.mark.parametrize("occasion", RATE_LIMITS)
async def test_each_limit_lets_a_burst_through_and_then_its_rate(clock: ManualClock, occasion: RateLimitName) -> None:
    rate_limits, limit = RateLimits(clock), RATE_LIMITS[occasion]
    assert allowed(rate_limits, occasion, "hana") == limit.burst
    await clock.advance(limit.seconds)
    assert allowed(rate_limits, occasion, "hana") == min(limit.burst, limit.times)


def test_the_limits_are_those_that_were_promised() -> None:
    promised = {
        "sign_in": (5, 60, 5),
        "sign_in_address": (20, 60, 20),
        "sign_up_address": (60, 3600, 30),
        "write": (60, 60, 30),
        "read_address": (12_000, 60, 6000),
        "socket_address": (3000, 60, 1500),
    }
    assert {
        name: (RATE_LIMITS[name].times, RATE_LIMITS[name].seconds, RATE_LIMITS[name].burst) for name in promised
    } == promised
    assert (RATE_LIMITS["read"].times, RATE_LIMITS["read"].seconds) == (600, 60)


def test_a_hall_of_500_phones_comes_in_and_looks_at_what_is_left_within_a_minute(clock: ManualClock) -> None:
    rate_limits, coming_in, at_the_end = RateLimits(clock), 4, 4
    for _ in range(500 * (coming_in + at_the_end)):
        rate_limits.consume("read_address", "192.0.2.1")


async def test_who_comes_back_when_told_is_let_in_and_not_a_moment_earlier(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed(rate_limits, "sign_in", "hana", "192.0.2.1")
    with pytest.raises(RateLimited) as refused:
        rate_limits.consume("sign_in", "hana", "192.0.2.1")
    wait = refused.value.retry_after
    assert wait == 12
    assert refused.value.problem.details == {"retry_after": 12}
    await clock.advance(wait - 1)
    assert allowed(rate_limits, "sign_in", "hana", "192.0.2.1") == 0
    await clock.advance(1)
    assert allowed(rate_limits, "sign_in", "hana", "192.0.2.1") == 1


def test_what_is_given_back_can_be_taken_again_and_no_more(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    rate_limits.refund("sign_in", "hana")
    assert allowed(rate_limits, "sign_in", "hana") == 5
    rate_limits.refund("sign_in", "hana")
    assert allowed(rate_limits, "sign_in", "hana") == 1


def test_each_caller_and_each_occasion_is_counted_by_itself(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed(rate_limits, "sign_in", "hana", "192.0.2.1")
    assert allowed(rate_limits, "sign_in", "hana", "192.0.2.2") == 5
    assert allowed(rate_limits, "sign_in", "otto", "192.0.2.1") == 5
    assert allowed(rate_limits, "password", "hana", "192.0.2.1") == 5


def test_two_parts_are_never_taken_for_two_others(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed(rate_limits, "sign_in", "a b", "c")
    assert allowed(rate_limits, "sign_in", "a", "b c") == 5


async def test_a_clock_that_is_set_back_gives_nothing_away(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed(rate_limits, "sign_in", "hana")
    rate_limits._clock = ManualClock(START - 3600)
    assert allowed(rate_limits, "sign_in", "hana") == 0
    rate_limits._clock = ManualClock(START - 3600 + 60)
    assert allowed(rate_limits, "sign_in", "hana") == 5


def test_only_so_many_callers_are_remembered(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock, {"write": RateLimit(1, 60.0, 1)}, max_buckets=100)
    rate_limits.consume("write", "hana")
    for number in range(99):
        rate_limits.consume("write", f"guest {number}")
    assert allowed(rate_limits, "write", "hana") == 0
    for number in range(99):
        rate_limits.consume("write", f"other {number}")
    assert allowed(rate_limits, "write", "hana") == 0
    assert sum(len(buckets) for buckets in rate_limits._buckets.values()) == 100


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        (None, "unknown"),
        ("", "unknown"),
        ("/run/zataku.sock", "unknown"),
    ],
)
def test_one_household_is_one_address(address: str | None, counted: str) -> None:
    assert client_network(address) == counted
