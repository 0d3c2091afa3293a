"""The command that lists the items which do not fit their entity."""

import asyncio
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine
from tests.support.dynamodb_servers import shared_server
from tests.support.reading_circle import circle
from tests.support.writer_process import writer_process
from zataku.table import StoreUrl, open_store
from zataku.table.backend.port import PutItem
from zataku.table.embedded.file.connection import connect, register_checksums

NEGATIVE = {"PK": "MEMBER#eve", "SK": "MEMBER#eve", "name": "eve", "noteCount": -1}
FOREIGN = {"PK": "SHIP#1", "SK": "SHIP#1"}
_numbers = count(1)


def put_raw(url: str | Path, *items: dict[str, Any], env: str = "prod") -> None:
    """Write items as another program would."""

    async def put() -> None:
        async with await open_store(StoreUrl.parse(str(url)), [circle], env=env) as store:
            for item in items:
                await store.backend.write(PutItem(store.schema(circle), item))

    asyncio.run(put())


def test_a_sound_store_has_nothing_to_list(host: CommandLine, store: Path) -> None:
    assert host.good("store", "check") == "All 5 items fit their entities.\n"


def test_items_that_do_not_fit_are_listed_with_the_reason(host: CommandLine, store: Path) -> None:
    put_raw(store, NEGATIVE, FOREIGN)
    result = host("store", "check")
    assert result.code == 1
    rows = {line.split()[1]: line for line in result.out.splitlines()[1:3]}
    assert "ReadingCircle  Member  MEMBER#eve, MEMBER#eve" in rows["Member"]
    assert "It does not fit Member: Expected `int` >= 0 - at `$.noteCount`." in rows["Member"]
    assert "It is none of Book, Note, Member." in rows["none"]
    assert result.out.endswith("2 of 7 items do not fit. They are left as they are.\n")


def test_control_characters_of_an_item_do_not_reach_the_terminal(host: CommandLine, store: Path) -> None:
    book = {"PK": "BOOK#b", "SK": "META", "bookId": "b", "title": "T", "shelf": "\x1b]0;gone\x07"}
    put_raw(store, {"PK": "SHIP#\x1b[2J\n", "SK": "船"}, book)
    out = host("store", "check").out
    assert "SHIP#\\x1b[2J\\n, 船" in out
    assert "'\\x1b]0;gone\\x07'" in out
    assert "\x1b" not in out


def test_a_long_list_is_cut_and_counted(host: CommandLine, store: Path) -> None:
    put_raw(store, NEGATIVE, FOREIGN)
    result = host("store", "check", "--limit", "1")
    assert "and 1 more; --limit lists them." in result.out


def test_the_list_is_printed_for_a_program(host: CommandLine, store: Path) -> None:
    put_raw(store, NEGATIVE)
    result = host("store", "check", "--json")
    assert result.code == 1
    printed = json.loads(result.out)
    assert (printed["items"], printed["unreadable"]) == (6, 1)
    (item,) = printed["listed"]
    assert item["key"] == {"PK": "MEMBER#eve", "SK": "MEMBER#eve"}
    assert (item["table"], item["entity"]) == ("ReadingCircle", "Member")


@pytest.mark.parametrize("row", ["x''", "x'ff'", "x'8101'", "substr(item, 1, length(item) - 3)", "x'81a150a2c328'"])
def test_rows_that_are_no_items_are_listed_by_their_keys(host: CommandLine, store: Path, row: str) -> None:
    put_raw(store, NEGATIVE)
    register_checksums()
    connection = connect(store, writable=True)
    connection.execute(f"UPDATE items_1 SET item = {row} WHERE pk = CAST('MEMBER#m1' AS BLOB)")
    connection.close()
    result = host("store", "check", "--json")
    assert result.code == 1
    printed = json.loads(result.out)
    assert (printed["items"], printed["unreadable"]) == (6, 2)
    listed = {item["key"]["PK"]: item for item in printed["listed"]}
    assert listed["MEMBER#m1"]["key"] == {"PK": "MEMBER#m1", "SK": "MEMBER#m1"}
    assert (listed["MEMBER#m1"]["entity"], listed["MEMBER#m1"]["reason"]) == (None, "It is no item.")
    assert listed["MEMBER#eve"]["entity"] == "Member"


def test_a_damaged_page_is_not_taken_for_a_row_that_is_no_item(host: CommandLine, store: Path) -> None:
    store.write_bytes(store.read_bytes().replace(b"noteCount", b"noteCounT"))
    assert host.refused("store", "check").endswith("(store_damaged)")


def test_it_works_beside_a_running_server(host: CommandLine, store: Path) -> None:
    put_raw(store, NEGATIVE)
    with writer_process(store):
        result = host("store", "check")
    assert result.code == 1
    assert "MEMBER#eve" in result.out


def test_it_checks_dynamodb(host: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    url, env = f"dynamodb+{shared_server('dynoxide').endpoint}", f"check{next(_numbers)}"
    monkeypatch.setenv("ZATAKU_STORE", url)
    put_raw(url, FOREIGN, env=env)
    result = host("store", "check", "--env", env)
    assert result.code == 1
    assert f"ReadingCircle-{env}" in result.out
