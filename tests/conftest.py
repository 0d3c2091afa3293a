"""Rules for every test run: how hard hypothesis tries, and that nothing is skipped where everything must run."""

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("quick", deadline=None, print_blob=True)
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


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
