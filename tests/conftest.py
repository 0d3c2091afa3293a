"""Rules for every test run: how hard hypothesis tries, where files lie, and that nothing is skipped that must run."""

import gc
import os
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("quick", deadline=None, print_blob=True)
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

_MEMORY = Path("/dev/shm")
_ROOM = 2 * 1024**3


def _keep_files_in_memory() -> None:
    """The stores of tests do not outlive them, and in memory nobody waits for a disk. TMPDIR names another place."""
    if "TMPDIR" in os.environ or not _MEMORY.is_dir():
        return
    place = os.statvfs(_MEMORY)
    # Some tests start the programs that they write.
    if place.f_bavail * place.f_frsize >= _ROOM and not place.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None


_keep_files_in_memory()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: to look through it for garbage, again and again, would find none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ZATAKU_REQUIRE_ALL=1 a skipped test is a failed one: a missing program must not look like success."""
    report = yield
    if os.environ.get("ZATAKU_REQUIRE_ALL") == "1" and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and ZATAKU_REQUIRE_ALL=1 allows no skips. {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A whole module that skips itself counts as well."""
    report = yield
    if os.environ.get("ZATAKU_REQUIRE_ALL") == "1" and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped, and ZATAKU_REQUIRE_ALL=1 allows no skips. {report.longrepr}"
    return report
