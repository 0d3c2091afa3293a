"""Exports at once and a minute, by person, by address and in all."""

from collections.abc import Generator
from contextlib import ExitStack

import pytest

from tests.support.manual_clock import ManualClock
from zataku.accounts.export_limits import (
    MAX_EXPORTS_PER_PERSON,
    RETRY_SECONDS,
    SLOW_BYTES_PER_SECOND,
    SLOW_SECONDS,
    ExportLimits,
    RunningExport,
)
from zataku.accounts.rate_limits import RATE_LIMITS, RateLimits
from zataku.errors import RateLimited


@pytest.fixture
def limits(clock: ManualClock) -> ExportLimits:
    return ExportLimits(clock, RateLimits(clock), max_exports=6, max_per_address=4)


def never() -> None:
    raise AssertionError("An export was ended.")


def test_a_person_an_address_and_all_together_run_so_many_exports_at_once(limits: ExportLimits) -> None:
    with ExitStack() as running:
        for person, address in (("a", "1"), ("a", "1"), ("b", "1"), ("c", "1"), ("d", "2"), ("e", "2")):
            running.enter_context(limits.slot(person, address, never))
            if person == "a" and limits.running == MAX_EXPORTS_PER_PERSON:
                with pytest.raises(RateLimited), limits.slot("a", "2", never):
                    pass
            if person == "c":
                with pytest.raises(RateLimited), limits.slot("z", "1", never):
                    pass
        assert limits.running == 6
        with pytest.raises(RateLimited) as refused, limits.slot("z", "3", never):
            pass
        assert refused.value.retry_after == RETRY_SECONDS
    assert limits.running == 0
    assert not limits._running


@pytest.mark.parametrize("ending", [RuntimeError, KeyboardInterrupt, GeneratorExit])
def test_an_export_that_fails_frees_its_slot(limits: ExportLimits, ending: type[BaseException]) -> None:
    with pytest.raises(ending), limits.slot("a", "1", never):
        raise ending
    assert not limits._running


async def test_exports_begin_so_often_in_a_minute(limits: ExportLimits, clock: ManualClock) -> None:
    def begun(person: str | None, address: str | None) -> int:
        for number in range(1000):
            try:
                with limits.slot(person or f"guest {number}", address or f"address {number}", never):
                    pass
            except RateLimited:
                return number
        raise AssertionError("No export was refused.")

    assert begun("a", None) == RATE_LIMITS["export"].burst
    assert begun(None, "1") == RATE_LIMITS["export_address"].burst
    await clock.advance(60)
    assert begun(None, None) == RATE_LIMITS["export_all"].burst
    assert limits.running == 0


class Downloads:
    """Exports that hold their slots until the test ends, or until they make room for others."""

    def __init__(self, limits: ExportLimits) -> None:
        self.ended: list[str] = []
        self._limits = limits
        self._slots = ExitStack()

    def begin(self, person: str, address: str) -> RunningExport:
        slot = self._limits.slot(person, address, lambda: self.ended.append(person))
        return self._slots.enter_context(slot)

    def send(self, export: RunningExport, size: int) -> None:
        """Send bytes that the client does not take before the test ends."""
        self._slots.enter_context(export.sending(size))

    def end(self) -> None:
        self._slots.close()


@pytest.fixture
def downloads(limits: ExportLimits) -> Generator[Downloads]:
    downloads = Downloads(limits)
    yield downloads
    downloads.end()
    assert limits.running == 0


async def test_the_slowest_of_the_exports_that_are_read_slowly_makes_room_for_others(
    limits: ExportLimits, downloads: Downloads, clock: ManualClock
) -> None:
    held = [downloads.begin(f"slow {number}", "12"[number // 4]) for number in range(6)]
    for number, export in enumerate(held):
        with export.sending(1000 * (number + 1)):
            pass
        downloads.send(export, 1)
    await clock.advance(SLOW_SECONDS - 0.1)
    with pytest.raises(RateLimited):
        downloads.begin("too early", "3")
    await clock.advance(0.1)
    newcomer = downloads.begin("newcomer", "3")
    assert downloads.ended == ["slow 0"]
    downloads.begin("of the second address", "2")
    assert downloads.ended == ["slow 0", "slow 1"]
    assert limits.running == 6
    downloads.send(newcomer, 1)


async def test_an_address_makes_room_among_its_own_exports_only(
    limits: ExportLimits, downloads: Downloads, clock: ManualClock
) -> None:
    for number in range(4):
        downloads.send(downloads.begin(f"here {number}", "1"), 1)
    downloads.send(downloads.begin("elsewhere", "2"), 1)
    await clock.advance(SLOW_SECONDS)
    downloads.begin("newcomer", "1")
    assert len(downloads.ended) == 1
    assert downloads.ended[0].startswith("here")
    assert limits.running == 5


async def test_exports_that_are_read_or_that_wait_for_the_server_make_room_for_none(
    downloads: Downloads, clock: ManualClock
) -> None:
    exports = [downloads.begin(f"reader {number}", "12"[number // 4]) for number in range(6)]
    for export in exports[:3]:
        with export.sending(round(SLOW_BYTES_PER_SECOND * SLOW_SECONDS)):
            pass
        downloads.send(export, 1)
    await clock.advance(SLOW_SECONDS)
    with pytest.raises(RateLimited) as refused:
        downloads.begin("newcomer", "3")
    assert refused.value.retry_after == RETRY_SECONDS
    assert downloads.ended == []


async def test_a_person_does_not_end_their_own_exports_and_who_begins_too_often_ends_none(
    limits: ExportLimits, downloads: Downloads, clock: ManualClock
) -> None:
    for _ in range(RATE_LIMITS["export"].burst):
        with limits.slot("busy", "3", never):
            pass
    for number in range(6):
        downloads.send(downloads.begin(f"slow {number // 2}", "12"[number // 4]), 1)
    await clock.advance(SLOW_SECONDS)
    for person in ("slow 0", "busy"):
        with pytest.raises(RateLimited):
            downloads.begin(person, "3")
    assert downloads.ended == []
