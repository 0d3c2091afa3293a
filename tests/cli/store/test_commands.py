"""The commands of `zataku store` on an embedded store."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine, interruptible_process, own_process
from tests.cli.conftest import create_store
from tests.support.reading_circle import FILE, circle, example, member
from zataku.clock import SystemClock
from zataku.table import Entity, Table, open_embedded

ITEM_COUNT = 5


def count_items(path: Path) -> int:
    async def count() -> int:
        async with await open_embedded(path, [circle], read_only=True) as store:
            return len([item async for item in store.scan(circle)])

    return asyncio.run(count())


def put_items(path: Path, *entities: Entity, table: Table = circle) -> None:
    """Open a store as a server would, and put items into it."""

    async def put() -> None:
        async with await open_embedded(path, [table]) as store:
            await store.write_many(put=entities)

    asyncio.run(put())


def test_the_status_shows_a_sound_store(host: CommandLine, store: Path) -> None:
    printed = host.good("store", "status")
    facts = dict(line.split("  ", 1) for line in printed.partition("\n\n")[0].splitlines())
    assert facts["store"].strip() == "data/zataku.db"
    assert facts["reachable"].strip() == "yes"
    assert facts["can do"].strip() == "backups, local-indexes, streams, transactions, ttl"
    rows = [line.split() for line in printed.splitlines()[-3:]]
    assert rows == [["ReadingCircle", "fits"], ["ReadingCircle", "GSI1", "active"], ["ReadingCircle", "GSI2", "active"]]


def test_a_missing_store_is_an_error_and_is_not_created(host: CommandLine) -> None:
    for command in ("status", "stats", "check", "export out", "backup copy.db"):
        assert "There is no store at data/zataku.db" in host.refused("store", *command.split())
    assert list(host.folder.iterdir()) == []


def test_the_status_exits_with_1_when_a_table_differs(host: CommandLine) -> None:
    other = Table("ReadingCircle", pk="PK", sk="SK", ttl="until")
    put_items(Path("zataku.db"), table=other)
    result = host("store", "status", "--store", "zataku.db")
    assert result.code == 1
    assert "differs: no index GSI1, no index GSI2, its time to live is until, not expiresAt" in result.out


def test_a_table_of_another_environment_is_absent(host: CommandLine, store: Path) -> None:
    result = host("store", "status", "--env", "dev")
    assert result.code == 1
    assert "ReadingCircle-dev         absent" in result.out
    assert "stored; no design was found for it" in result.out


def test_commands_that_only_read_a_file_need_no_design(bare: CommandLine, store: Path, monkeypatch) -> None:
    monkeypatch.delenv("ZATAKU_DESIGNS")
    assert "stored; no design was found for it" in bare.good("store", "status")
    bare.good("store", "stats")
    bare.good("store", "backup", "copy.db")
    assert "There is no design" in bare.refused("store", "sweep")
    assert "There is no design" in bare.refused("store", "status", "--store", "dynamodb:")


def test_the_environment_variable_names_the_store(
    host: CommandLine, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.rename(host.folder / "moved.db")
    store.with_name("zataku.db-wal").rename(host.folder / "moved.db-wal")
    monkeypatch.setenv("ZATAKU_STORE", "moved.db")
    assert "moved.db" in host.good("store", "status")


def test_statistics_are_printed_as_text_and_as_json(host: CommandLine, store: Path) -> None:
    figures = json.loads(host.good("store", "stats", "--json"))
    assert figures["store"] == "data/zataku.db"
    sizes = {(size["table"], size["index"]): size["items"] for size in figures["sizes"]}
    assert sizes == {("ReadingCircle", None): ITEM_COUNT, ("ReadingCircle", "GSI1"): 1, ("ReadingCircle", "GSI2"): 1}
    usage = {pattern["pattern"]: pattern for pattern in figures["usage"]}
    notes = usage["ReadingCircle.notes_on"]
    assert (notes["calls"], notes["read_units"], notes["units_per_call"]) == (1, 0.5, 0.5)
    printed = host.good("store", "stats")
    assert "access pattern" in printed
    assert "ReadingCircle.notes_on" in printed


def test_the_statistics_of_an_unused_store_are_empty(host: CommandLine) -> None:
    put_items(Path("zataku.db"))
    assert "Nothing has been used yet." in host.good("store", "stats", "--store", "zataku.db")


def test_a_restore_keeps_a_copy_of_the_replaced_store(host: CommandLine, store: Path) -> None:
    host.good("store", "backup", "copy.db")
    put_items(store, member(77))
    printed = host.good("store", "restore", "copy.db", "--yes")
    assert "What was there is kept as data/zataku.db.before-restore." in printed
    assert count_items(store) == ITEM_COUNT
    assert count_items(store.with_name("zataku.db.before-restore")) == ITEM_COUNT + 1


def test_a_backup_does_not_overwrite_a_file(host: CommandLine, store: Path) -> None:
    (host.folder / "copy.db").write_text("precious")
    assert "copy.db exists already" in host.refused("store", "backup", "copy.db")
    assert (host.folder / "copy.db").read_text() == "precious"


def test_a_restore_without_a_terminal_needs_the_yes_option(host: CommandLine, store: Path) -> None:
    before = store.read_bytes()
    host.good("store", "backup", "copy.db")
    assert "add --yes" in host.refused("store", "restore", "copy.db")
    assert store.read_bytes() == before


def test_a_damaged_store_is_reported_and_can_be_restored(host: CommandLine, store: Path) -> None:
    host.good("store", "backup", "copy.db")
    pages = store.read_bytes()
    store.write_bytes(pages[:4096] + os.urandom(len(pages) - 4096))
    assert host.refused("store", "status").endswith("(store_damaged)")
    host.good("store", "restore", "copy.db", "--yes")
    assert count_items(store) == ITEM_COUNT


def test_a_backup_can_be_restored_where_no_store_exists(host: CommandLine, store: Path) -> None:
    host.good("store", "backup", "copy.db")
    printed = host.good("store", "restore", "copy.db", "--yes", "--store", "new/circle.db")
    assert "kept" not in printed
    assert count_items(host.folder / "new" / "circle.db") == ITEM_COUNT


def test_an_invalid_backup_changes_nothing(host: CommandLine, store: Path) -> None:
    before = store.read_bytes()
    (host.folder / "copy.db").write_bytes(os.urandom(9000))
    assert "copy.db" in host.refused("store", "restore", "copy.db", "--yes")
    assert "There is no backup absent.db" in host.refused("store", "restore", "absent.db", "--yes")
    assert store.read_bytes() == before


def test_an_export_is_imported_into_another_store(host: CommandLine, store: Path) -> None:
    assert f"ReadingCircle: {ITEM_COUNT} items" in host.good("store", "export", "out")
    assert "already holds the complete export" in host.good("store", "export", "out")
    host.good("store", "export", "out", "--again")
    printed = host.good("store", "import", "out", "--store", "new.db")
    assert "and every item was read back" in printed
    assert count_items(host.folder / "new.db") == ITEM_COUNT
    assert "is not empty" in host.refused("store", "import", "out", "--store", "new.db")
    assert "read back" not in host.good("store", "import", "out", "--store", "new.db", "--merge", "--no-verify")


def test_an_export_is_imported_into_another_environment(host: CommandLine, store: Path) -> None:
    host.good("store", "export", "out")
    host.good("store", "import", "out", "--store", "dev.db", "--env", "dev", "--from-env", "prod")
    first = host.good("store", "stats", "--store", "dev.db", "--env", "dev").splitlines()[1]
    assert first.split()[:2] == ["ReadingCircle-dev", str(ITEM_COUNT)]


def test_an_interrupted_export_is_continued(host: CommandLine) -> None:
    asyncio.run(create_store(host.folder / "large.db", 6_000))
    arguments = ["store", "export", "out", "--store", "large.db"]
    process = interruptible_process(*arguments, folder=host.folder)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("ReadingCircle: 0 of 6,002 items")
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130
    assert rest.endswith("zataku: Stopped. The same command continues where it stopped.\n")
    assert "Traceback" not in rest
    assert "ReadingCircle: 6,002 items" in host.good(*arguments)


def test_a_design_without_earlier_versions_has_nothing_to_migrate(host: CommandLine, store: Path) -> None:
    assert "there is nothing to do" in host.good("store", "migrate")
    assert "there is nothing to do" in host.good("store", "migrate", "--dry-run")


def test_expired_items_are_swept(host: CommandLine, store: Path) -> None:
    now = int(SystemClock().now())
    notes = [
        example.Note(
            book_id="walden",
            page=number,
            note_id="passing",
            writer="m1",
            text="Gone soon",
            written_at="2026-05-01T10:00:00Z",
            expires_at=now + (number * 2 - 1) * 1000,
        )
        for number in range(3)
    ]
    put_items(store, *notes)
    assert host.good("store", "sweep") == "1 expired item deleted.\n"
    assert host.good("store", "sweep") == "0 expired items deleted.\n"
    assert count_items(store) == ITEM_COUNT + 2


def test_commands_run_as_a_process(host: CommandLine, store: Path) -> None:
    done = own_process("store", "status", folder=host.folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fits" in done.stdout
    refused = own_process("store", "status", "--store", "redis:", folder=host.folder)
    assert refused.returncode == 1
    assert refused.stderr.startswith("zataku: There is no kind of store called redis.")
    assert refused.stderr.endswith("(bad_input)\n")


def test_designs_can_be_named_by_an_option(bare: CommandLine, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZATAKU_DESIGNS")
    assert "fits" in bare.good("store", "status", "--designs", FILE)
