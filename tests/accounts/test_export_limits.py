"""Exports at once and a minute, by person, by address and in all."""

from contextlib import ExitStack

import pytest

from tests.support.manual_clock import ManualClock
from zataku.accounts.export_limits import MAX_EXPORTS_PER_PERSON, RETRY_SECONDS, ExportLimits
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimits
from zataku.errors import RateLimited


@pytest.fixture
def limits(clock: ManualClock) -> ExportLimits:
    return ExportLimits(RateLimits(clock), max_exports=6, max_per_address=4)


def test_a_person_an_address_and_all_together_run_so_many_exports_at_once(limits: ExportLimits) -> None:
    with ExitStack() as running:
        for person, address in (("a", "1"), ("a", "1"), ("b", "1"), ("c", "1"), ("d", "2"), ("e", "2")):
            running.enter_context(limits.slot(person, address))
            if person == "a" and limits.running == MAX_EXPORTS_PER_PERSON:
                with pytest.raises(RateLimited), limits.slot("a", "2"):
                    pass
            if person == "c":
                with pytest.raises(RateLimited), limits.slot("z", "1"):
                    pass
        assert limits.running == 6
        with pytest.raises(RateLimited) as refused, limits.slot("z", "3"):
            pass
        assert refused.value.retry_after == RETRY_SECONDS
    assert limits.running == 0
    assert not limits._running


@pytest.mark.parametrize("ending", [RuntimeError, KeyboardInterrupt, GeneratorExit])
def test_an_export_that_fails_frees_its_slot(limits: ExportLimits, ending: type[BaseException]) -> None:
    with pytest.raises(ending), limits.slot("a", "1"):
        raise ending
    assert not limits._running


async def test_exports_begin_so_often_in_a_minute(limits: ExportLimits, clock: ManualClock) -> None:
    def begun(person: str | None, address: str | None) -> int:
        for number in range(1000):
            try:
                with limits.slot(person or f"guest {number}", address or f"address {number}"):
                    pass
            except RateLimited:
                return number
        raise AssertionError("No export was refused.")

    assert begun("a", None) == RATE_LIMITS["export"].burst
    assert begun(None, "1") == RATE_LIMITS["export_address"].burst
    await clock.advance(60)
    assert begun(None, None) == RATE_LIMITS["export_all"].burst
    assert limits.running == 0
