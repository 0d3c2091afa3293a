"""With ZATAKU_REQUIRE_ALL=1, a skipped test fails with the reason of the skip."""

from pathlib import Path

import pytest

CONFTEST = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run a test file under tests/conftest.py in this process: a new one would take seconds to import everything."""
    pytester.makeconftest(CONFTEST)
    monkeypatch.setenv("ZATAKU_REQUIRE_ALL", "1")
    options = ("-p", "no:cacheprovider", "--disable-plugin-autoload")
    return lambda text: pytester.runpytest_inprocess(*options, pytester.makepyfile(text))


def test_a_skip_fails_with_its_reason(run):
    result = run("import pytest\n@pytest.mark.skip(reason='no browser here')\ndef test_a(): pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ZATAKU_REQUIRE_ALL=1 allows no skips*no browser here*"])


def test_a_skip_from_within_a_test_fails_too(run):
    result = run("import pytest\ndef test_a(): pytest.skip('no node here')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no node here*"])


def test_a_module_that_skips_itself_fails_too(run):
    result = run("import pytest\npytest.skip('no store here', allow_module_level=True)")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no store here*"])


def test_an_expected_failure_is_still_expected(run):
    result = run("import pytest\n@pytest.mark.xfail(reason='known')\ndef test_a(): assert False")
    result.assert_outcomes(xfailed=1)


def test_without_the_variable_a_test_may_be_skipped(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ZATAKU_REQUIRE_ALL")
    result = run("import pytest\ndef test_a(): pytest.skip('later')")
    result.assert_outcomes(skipped=1)
