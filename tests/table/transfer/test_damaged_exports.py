"""A damaged export is refused before anything is written."""

import gzip
import json
import shutil
from base64 import b64encode
from collections.abc import Callable
from hashlib import md5
from pathlib import Path

import pytest

from tests.support.manual_clock import ManualClock
from tests.table.transfer.sample_items import CURTAINS, FURNITURE, lines_in
from zataku.table import ExportDamaged
from zataku.table.embedded import EmbeddedBackend
from zataku.table.transfer import export_store, import_store

BOTH = (CURTAINS, FURNITURE)


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "FurnitureOfARoom/data").iterdir())


def flip_a_byte(folder: Path) -> None:
    part = parts(folder)[-1]
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)


def truncate_a_part(folder: Path) -> None:
    part = parts(folder)[-1]
    part.write_bytes(part.read_bytes()[:-10])


def delete_a_part(folder: Path) -> None:
    parts(folder)[1].unlink()


def swap_two_parts(folder: Path) -> None:
    first, second = parts(folder)[:2]
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


def replace_a_part(folder: Path) -> None:
    parts(folder)[0].write_bytes(gzip.compress(b'{"Item":{"PK":{"S":"a"},"SK":{"S":"b"}}}\n'))


def edit_a_manifest(folder: Path) -> None:
    path = folder / "FurnitureOfARoom/manifest-files.json"
    path.write_text(path.read_text().replace('"itemCount":', '"itemCount":1', 1))


def edit_a_manifest_and_its_checksum(folder: Path) -> None:
    path = folder / "FurnitureOfARoom/manifest-files.json"
    lines = path.read_bytes().splitlines(keepends=True)[1:]
    path.write_bytes(b"".join(lines))
    path.with_suffix(".md5").write_bytes(b64encode(md5(path.read_bytes()).digest()))
    path = folder / "FurnitureOfARoom/manifest-summary.json"
    summary = json.loads(path.read_bytes())
    summary["itemCount"] = sum(json.loads(line)["itemCount"] for line in lines)
    path.write_text(json.dumps(summary))
    path.with_suffix(".md5").write_bytes(b64encode(md5(path.read_bytes()).digest()))


def delete_a_manifest(folder: Path) -> None:
    (folder / "FurnitureOfARoom/manifest-summary.json").unlink()


def delete_a_checksum(folder: Path) -> None:
    (folder / "FurnitureOfARoom/manifest-files.md5").unlink()


def delete_a_table(folder: Path) -> None:
    shutil.rmtree(folder / "FurnitureOfARoom")


def edit_the_list_of_parts(folder: Path) -> None:
    path = folder / "FurnitureOfARoom/zataku-parts.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def edit_the_export_record(folder: Path) -> None:
    path = folder / "zataku-export.json"
    path.write_text(path.read_text().replace('"items": 300', '"items": 299'))


def truncate_the_export_record(folder: Path) -> None:
    path = folder / "zataku-export.json"
    path.write_bytes(path.read_bytes()[:100])


def raise_the_format_version(folder: Path) -> None:
    path = folder / "zataku-export.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))


DAMAGE: list[tuple[Callable[[Path], None], str]] = [
    (flip_a_byte, "MD5"),
    (truncate_a_part, "length"),
    (delete_a_part, "missing"),
    (swap_two_parts, "length"),
    (replace_a_part, "length"),
    (edit_a_manifest, r"checksum in manifest-files\.md5"),
    (edit_a_manifest_and_its_checksum, "disagree"),
    (delete_a_manifest, r"manifest-summary\.json is missing"),
    (delete_a_checksum, r"manifest-files\.md5 is missing"),
    (delete_a_table, "is missing"),
    (edit_the_list_of_parts, "was changed after the export"),
    (edit_the_export_record, "was changed after the export"),
    (truncate_the_export_record, "cannot be decoded"),
    (raise_the_format_version, "newer program"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE, ids=lambda value: getattr(value, "__name__", None))
async def test_a_damaged_export_is_refused_and_nothing_is_written(
    damage: Callable[[Path], None],
    message: str,
    source_store: EmbeddedBackend,
    target_store: EmbeddedBackend,
    folder: Path,
    clock: ManualClock,
):
    await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1)
    damage(folder)
    with pytest.raises(ExportDamaged, match=message):
        await import_store(target_store, BOTH, folder)
    assert await lines_in(target_store, CURTAINS) == []
    assert await lines_in(target_store, FURNITURE) == []
    assert not list(folder.glob("zataku-import-*"))


async def test_an_unfinished_export_is_not_imported(
    source_store: EmbeddedBackend, target_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    def stop(table: str, items: int, total: int | None, size: int) -> None:
        if items > 100:
            raise KeyError("power cut")

    with pytest.raises(KeyError, match="power cut"):
        await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1, progress=stop)
    with pytest.raises(ExportDamaged, match="is not finished"):
        await import_store(target_store, BOTH, folder)
    assert await lines_in(target_store, CURTAINS) == []
    assert (await export_store(source_store, BOTH, folder, clock=clock)).resumed
    await import_store(target_store, BOTH, folder)


@pytest.mark.parametrize("content", [None, "file", "empty", "other files"])
async def test_a_path_without_an_export_is_refused(content: str | None, target_store: EmbeddedBackend, folder: Path):
    if content == "file":
        folder.write_text("not a folder")
    elif content is not None:
        folder.mkdir()
        if content == "other files":
            (folder / "letters.txt").write_text("mine")
    with pytest.raises(ExportDamaged, match="is not a folder|holds no export"):
        await import_store(target_store, BOTH, folder)


async def test_repeating_a_damaged_complete_export_is_refused_unless_it_is_replaced(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    parts(folder)[0].unlink()
    with pytest.raises(ExportDamaged, match="is missing"):
        await export_store(source_store, BOTH, folder, clock=clock)
    await export_store(source_store, BOTH, folder, clock=clock, again=True)
    assert (await export_store(source_store, BOTH, folder, clock=clock)).was_complete
