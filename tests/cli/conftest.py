"""A host in a folder of their own."""

import asyncio
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.support.reading_circle import FILE, circle, example, member
from zataku.table import open_embedded

# The entry-point group under which packages of these tests offer designs.
OFFERED = "zataku.designs.of.tests"


@pytest.fixture
def bare(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A host without any design, not even those that come with Zataku."""
    monkeypatch.setattr("zataku.table.schema.design_catalogue.GROUP", OFFERED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZATAKU_DESIGNS", raising=False)
    monkeypatch.delenv("ZATAKU_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return CommandLine(capsys, tmp_path)


@pytest.fixture
def host(bare: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A host with the example's design."""
    monkeypatch.setenv("ZATAKU_DESIGNS", str(FILE))
    return bare


async def filled(path: Path, members: int = 3) -> Path:
    """A store with some members, a book and a note on it."""
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
    """The host's store, filled, where a host's store is by default."""
    return asyncio.run(filled(host.folder / "data" / "zataku.db"))
