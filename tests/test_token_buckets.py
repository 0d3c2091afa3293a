"""Token buckets: bursts, rates, overdrafts, and a bounded number of them."""

import pytest

from zataku.token_buckets import TokenBucket, TokenBuckets


def test_a_token_bucket_refills_up_to_its_burst():
    bucket = TokenBucket(rate=10, burst=3, now=0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [0, 0, 0, pytest.approx(0.1)]
    assert bucket.take(0.2) == 0
    assert bucket.take(100.0) == 0
    assert [bucket.take(100.0) for _ in range(2)] == [0, 0]
    assert bucket.take(100.0) > 0


def test_a_refused_caller_loses_nothing_by_trying_again():
    bucket = TokenBucket(rate=1, burst=1, now=0.0)
    assert bucket.take(0.0) == 0
    assert {bucket.take(0.0) for _ in range(100)} == {1.0}
    assert bucket.take(1.0) == 0


def test_several_tokens_are_taken_together_or_not_at_all():
    bucket = TokenBucket(rate=2, burst=5, now=0.0)
    assert bucket.take(0.0, 4) == 0
    assert bucket.take(0.0, 4) == pytest.approx(1.5)
    assert bucket.take(0.0, 1) == 0


@pytest.mark.parametrize("take", [TokenBucket.take, TokenBucket.overdraw])
def test_a_token_bucket_tolerates_a_clock_that_goes_back(take):
    bucket = TokenBucket(rate=10, burst=1, now=100.0)
    assert take(bucket, 50.0) == 0
    assert take(bucket, 50.1) == 0
    assert take(bucket, 50.1) > 0


def test_a_token_bucket_can_be_overdrawn_and_recovers():
    bucket = TokenBucket(rate=10, burst=3, now=0.0)
    waits = [bucket.overdraw(0.0) for _ in range(6)]
    assert waits[-1] == pytest.approx(0.3)
    assert not bucket.is_overdrawn
    bucket.overdraw(0.0)
    assert bucket.is_overdrawn
    assert bucket.overdraw(1.0) == 0


def test_what_is_given_back_never_exceeds_the_burst():
    bucket = TokenBucket(rate=1, burst=2, now=0.0)
    bucket.take(0.0)
    for _ in range(5):
        bucket.give_back()
    assert [bucket.take(0.0) == 0 for _ in range(3)] == [True, True, False]


def test_every_caller_has_a_bucket_and_the_least_recently_used_are_dropped():
    buckets = TokenBuckets(rate=1, burst=1, max_buckets=2)
    assert [buckets.of(caller, 0.0).take(0.0) for caller in ("hana", "sora", "hana")] == [0, 0, 1.0]
    assert buckets.of("yuna", 0.0).take(0.0) == 0
    assert len(buckets) == 2
    assert buckets.of("hana", 0.0).take(0.0) == 1.0
    assert buckets.of("sora", 0.0).take(0.0) == 0
