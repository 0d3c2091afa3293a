"""Rules for the repository that no linter checks."""

import re
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
# Concatenated, so that this file does not name them either.
REGISTRY_HOSTS = ["pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "npmjs" + ".com", "deb.debian" + ".org"]


def repository_files() -> list[Path]:
    """Every file that is or would be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def read_text(file: Path) -> str | None:
    """The text of a file, None for a binary file."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def targets() -> list[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return [name for line in re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE) for name in line.split()]


def pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_index_and_has_a_hash_for_every_package(lock: Path):
    text = lock.read_text(encoding="utf-8")
    assert not re.findall(r"^\s*(?:-i|-f|--\w*index\w*|--find-links|--extra-index-url).*$|://", text, re.MULTILINE)
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert packages
    assert all("--hash=sha256:" in package for package in packages)


def test_tests_run_with_the_package_versions_of_the_server():
    runtime, dev = (pins(ROOT / "requirements" / f"{name}.txt") for name in ("runtime", "dev"))
    assert runtime.items() <= dev.items()
    assert pins(ROOT / "requirements" / "node.txt").items() <= dev.items()


@pytest.mark.parametrize("folder", ["peers", "web"])
def test_npm_locks_name_no_address(folder: str):
    assert '"resolved"' not in (ROOT / folder / "package-lock.json").read_text(encoding="utf-8")


def test_no_file_names_a_package_registry():
    for file in repository_files():
        text = read_text(file) or ""
        assert [host for host in REGISTRY_HOSTS if host in text] == [], file


def test_every_make_target_is_explained_in_help():
    printed = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    explained = dict(re.findall(r"^  make (\S+)\s+(\S.*)$", printed.stdout, re.MULTILINE))
    assert explained.keys() == set(targets())
    assert {"help", "setup", "system", "serve", "test", "check", "bench", "clean"} <= explained.keys()


def test_no_source_file_is_longer_than_400_lines():
    kinds = {".py", ".sh", ".css", ".html", ".ts", ".svelte"}
    # Generated files are not read.
    sources = [file for file in repository_files() if file.suffix in kinds and file.name != "generated.ts"]
    lengths = {str(file.relative_to(ROOT)): len((read_text(file) or "").splitlines()) for file in sources}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_ci_requires_every_test_and_runs_make_test():
    run = ROOT / ".ci" / "run"
    assert run.stat().st_mode & stat.S_IXUSR
    commands = run.read_text(encoding="utf-8").splitlines()[-2:]
    assert commands == ["export ZATAKU_REQUIRE_ALL=1", "exec make test"]


def test_the_changelog_has_a_section_for_unreleased_changes():
    assert re.search(r"^## .*(Unreleased|0\.1\.0)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.stem)
def test_a_decision_has_its_context_and_its_consequences(decision: Path):
    headings = set(re.findall(r"^## (.+)$", decision.read_text(encoding="utf-8"), re.MULTILINE))
    assert re.match(r"\d{4}-[a-z0-9-]+$", decision.stem)
    assert {"Context", "Decision"} <= headings
    assert headings & {"Figures", "Consequences"}


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/operations.md"])
def test_links_between_documents_lead_to_existing_files(document: str):
    page = ROOT / document
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_missing_system_packages_are_named(tmp_path: Path):
    def system(*pairs: str) -> subprocess.CompletedProcess[str]:
        script = ["/bin/sh", str(ROOT / "scripts" / "system.sh"), *pairs]
        # A path without apt-get: nothing is ever installed by a test.
        return subprocess.run(script, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})

    (tmp_path / "present").write_text("#!/bin/sh\n")
    (tmp_path / "present").chmod(0o755)
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)

    assert system().stdout == "Nothing is needed from the system.\n"
    assert system("present:some-package").stdout == "Everything needed from the system is there.\n"
    incomplete = system("present:some-package", "absent:other-package")
    assert incomplete.returncode == 1
    assert "Missing from the system: other-package\n" in incomplete.stderr
