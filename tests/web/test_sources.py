"""Rules for the sources of the pages: what the content security policy blocks, and pinned packages."""

import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
SOURCES = sorted(
    path for path in (WEB / "src").rglob("*") if path.suffix in (".svelte", ".ts", ".css") and ".test" not in path.name
)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"""\sstyle=["{]""", "An inline style is blocked: write a class, or style:name={value}."),
        (r"\{@html\b", "Text of users is never markup."),
        (r"\beval\(|new Function\(", "Code from text is blocked."),
        (r"https?://(?!www\.w3\.org/)[a-z]", "Nothing is fetched from another host."),
    ],
)
def test_the_sources_have_no_forbidden_pattern(pattern: str, reason: str):
    assert len(SOURCES) > 40
    matching = [path.name for path in SOURCES if re.search(pattern, path.read_text(encoding="utf-8"))]
    assert matching == [], reason


def test_the_lock_names_no_registry():
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') > 50


def test_versions_are_exact():
    package = (WEB / "package.json").read_text(encoding="utf-8")
    assert re.findall(r'": "[\^~><*]', package) == []
