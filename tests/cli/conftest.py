"""Command lines in a folder of the test, with and without a design and a store."""

import asyncio
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.support.reading_circle import FILE, circle, example, member
from zataku.table import open_embedded

# The entry-point group of designs in these tests.
ENTRY_POINTS = "zataku.designs.of.tests"


@pytest.fixture
def bare(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line without any design, not even those of Zataku itself."""
    monkeypatch.setattr("zataku.table.design_catalogue.GROUP", ENTRY_POINTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZATAKU_DESIGNS", raising=False)
    monkeypatch.delenv("ZATAKU_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return CommandLine(capsys, tmp_path)


@pytest.fixture
def host(bare: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line with the example's design."""
    monkeypatch.setenv("ZATAKU_DESIGNS", str(FILE))
    return bare


async def create_store(path: Path, members: int = 3) -> Path:
    """A store with some members, a book and a note."""
    async with await open_embedded(path, [circle]) as store:
        await store.write_many(put=[member(number, number) for number in range(members)])
        await store.put(example.Book(book_id="walden", title="Walden", shelf="reading"))
        await store.put(
            example.Note(
                book_id="walden",
                page=2,
                note_id="n1",
                writer="m1",
                text="Simplify",
                written_at="2026-05-01T10:00:00Z",
            )
        )
        await store.page(example.notes_on("walden"))
    return path


@pytest.fixture
def store(host: CommandLine) -> Path:
    """A store with items at the default path."""
    return asyncio.run(create_store(host.folder / "data" / "zataku.db"))
