"""Rules of every test run: hypothesis profiles, the folder of temporary files, and skips that count as failures."""

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

_SHARED_MEMORY = Path("/dev/shm")
_MIN_FREE_BYTES = 2 * 1024**3


def _use_shared_memory_for_temporary_files() -> None:
    """Keep temporary stores in memory, where fsync is free. TMPDIR overrides it."""
    if "TMPDIR" in os.environ or not _SHARED_MEMORY.is_dir():
        return
    filesystem = os.statvfs(_SHARED_MEMORY)
    # Some tests execute programs that they write.
    if filesystem.f_bavail * filesystem.f_frsize >= _MIN_FREE_BYTES and not filesystem.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(_SHARED_MEMORY)
        tempfile.tempdir = None


_use_shared_memory_for_temporary_files()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Freeze the collected tests: they live until the end, and garbage collections need not traverse them."""
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
    """With ZATAKU_REQUIRE_ALL=1 a skipped test fails: a missing program must not look like success."""
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
    """The same for a module that skips itself at import."""
    report = yield
    if os.environ.get("ZATAKU_REQUIRE_ALL") == "1" and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped, and ZATAKU_REQUIRE_ALL=1 allows no skips. {report.longrepr}"
    return report
