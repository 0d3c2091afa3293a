"""Rate limits: bursts, rates, refunds and the networks of clients."""

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimit, RateLimitName, RateLimits, client_network
from zataku.errors import RateLimited


def allowed_calls(rate_limits: RateLimits, name: RateLimitName, *caller: str) -> int:
    """The number of calls until the limit refuses one."""
    for number in range(100_000):
        try:
            rate_limits.consume(name, *caller)
        except RateLimited:
            return number
    raise AssertionError("No call was refused.")


@pytest.mark.parametrize("name", RATE_LIMITS)
async def test_each_limit_allows_a_burst_and_then_its_rate(clock: ManualClock, name: RateLimitName) -> None:
    rate_limits, limit = RateLimits(clock), RATE_LIMITS[name]
    assert allowed_calls(rate_limits, name, "hana") == limit.burst
    await clock.advance(limit.seconds)
    assert allowed_calls(rate_limits, name, "hana") == min(limit.burst, limit.times)


def test_the_limits_are_the_documented_ones() -> None:
    documented = {
        "sign_in": (5, 60, 5),
        "sign_in_address": (20, 60, 20),
        "sign_up_address": (60, 3600, 30),
        "write": (60, 60, 30),
        "read_address": (12_000, 60, 6000),
        "socket_address": (3000, 60, 1500),
    }
    assert {
        name: (RATE_LIMITS[name].times, RATE_LIMITS[name].seconds, RATE_LIMITS[name].burst) for name in documented
    } == documented
    assert (RATE_LIMITS["read"].times, RATE_LIMITS["read"].seconds) == (600, 60)


def test_500_phones_behind_one_address_can_load_eight_responses_each_within_a_minute(clock: ManualClock) -> None:
    rate_limits, on_arrival, at_the_end = RateLimits(clock), 4, 4
    for _ in range(500 * (on_arrival + at_the_end)):
        rate_limits.consume("read_address", "192.0.2.1")


async def test_a_call_is_accepted_after_retry_after_and_not_before(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed_calls(rate_limits, "sign_in", "hana", "192.0.2.1")
    with pytest.raises(RateLimited) as error:
        rate_limits.consume("sign_in", "hana", "192.0.2.1")
    wait = error.value.retry_after
    assert wait == 12
    assert error.value.problem.details == {"retry_after": 12}
    await clock.advance(wait - 1)
    assert allowed_calls(rate_limits, "sign_in", "hana", "192.0.2.1") == 0
    await clock.advance(1)
    assert allowed_calls(rate_limits, "sign_in", "hana", "192.0.2.1") == 1


def test_a_refund_allows_one_more_call_up_to_the_burst(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    rate_limits.refund("sign_in", "hana")
    assert allowed_calls(rate_limits, "sign_in", "hana") == 5
    rate_limits.refund("sign_in", "hana")
    assert allowed_calls(rate_limits, "sign_in", "hana") == 1


def test_each_caller_and_each_limit_is_counted_separately(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed_calls(rate_limits, "sign_in", "hana", "192.0.2.1")
    assert allowed_calls(rate_limits, "sign_in", "hana", "192.0.2.2") == 5
    assert allowed_calls(rate_limits, "sign_in", "otto", "192.0.2.1") == 5
    assert allowed_calls(rate_limits, "password", "hana", "192.0.2.1") == 5


def test_callers_with_different_parts_do_not_share_a_bucket(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed_calls(rate_limits, "sign_in", "a b", "c")
    assert allowed_calls(rate_limits, "sign_in", "a", "b c") == 5


async def test_setting_the_clock_back_allows_no_extra_calls(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock)
    allowed_calls(rate_limits, "sign_in", "hana")
    rate_limits._clock = ManualClock(START - 3600)
    assert allowed_calls(rate_limits, "sign_in", "hana") == 0
    rate_limits._clock = ManualClock(START - 3600 + 60)
    assert allowed_calls(rate_limits, "sign_in", "hana") == 5


def test_the_number_of_buckets_is_bounded(clock: ManualClock) -> None:
    rate_limits = RateLimits(clock, {"write": RateLimit(1, 60.0, 1)}, max_buckets=100)
    rate_limits.consume("write", "hana")
    for number in range(99):
        rate_limits.consume("write", f"guest {number}")
    assert allowed_calls(rate_limits, "write", "hana") == 0
    for number in range(99):
        rate_limits.consume("write", f"other {number}")
    assert allowed_calls(rate_limits, "write", "hana") == 0
    assert sum(len(buckets) for buckets in rate_limits._buckets.values()) == 100


@pytest.mark.parametrize(
    ("address", "network"),
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
def test_a_client_is_counted_by_its_ipv4_address_or_ipv6_network(address: str | None, network: str) -> None:
    assert client_network(address) == network
