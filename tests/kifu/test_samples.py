"""The sample library is reproducible and follows the rules of a real one."""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from tests.support.stores import START
from zataku.kifu.authorization import public_view, visible_record
from zataku.kifu.entities import (
    LibraryPermission,
    Record,
    RecordPermission,
    SlugClaim,
    Tag,
    Tagging,
    TagNameClaim,
    UserSettings,
)
from zataku.kifu.sample_games import OPENINGS, Game, format_kif
from zataku.kifu.samples import HANAKO, MINJUN, SHARES, library
from zataku.table import Entity, Store
from zataku.table.schema.entity import binding_of


@pytest.fixture(scope="module")
def items() -> list[Entity]:
    return list(library(Random(2025), START))


def items_of_kind(items: list[Entity], kind: type) -> list:
    return [it for it in items if isinstance(it, kind)]


def test_the_same_source_gives_the_same_library(items: list[Entity]):
    assert list(library(Random(2025), START)) == items
    assert list(islice(library(Random(1), START), 30)) != items[:30]


def test_the_library_is_generated_item_by_item():
    assert len(list(islice(library(Random(1), START, records=10**9), 100))) == 100


def test_there_are_500_records_of_every_sort(items: list[Entity]):
    records = items_of_kind(items, Record)
    assert len(records) == 500
    assert {it.result for it in records} == {"win", "lose", "draw", "sennichite", "jishogi", "none"}
    assert {it.username for it in records} == set(SHARES)
    assert any(it.share for it in records)
    assert any(it.public for it in records)
    assert items_of_kind(items, RecordPermission)
    assert items_of_kind(items, LibraryPermission)


def test_every_item_can_be_stored_and_has_its_own_key(items: list[Entity]):
    keys = Counter((made["pk"], made["sk"]) for made in (binding_of(type(it)).encode(it) for it in items))
    assert set(keys.values()) == {1}


def test_claims_counts_and_links_match(items: list[Entity]):
    records = items_of_kind(items, Record)
    claims = {(it.username, it.slug): it for it in items_of_kind(items, SlugClaim)}
    assert {key: it.kifu_id for key, it in claims.items()} == {(it.username, it.slug): it.kifu_id for it in records}
    tags = {it.tag_id: it for it in items_of_kind(items, Tag)}
    assert {(it.username, it.name, it.tag_id) for it in tags.values()} == {
        (it.username, it.name, it.tag_id) for it in items_of_kind(items, TagNameClaim)
    }
    owners = {it.kifu_id: it.username for it in records}
    for link in items_of_kind(items, Tagging):
        assert tags[link.tag_id].username == owners[link.kifu_id]
    for user in items_of_kind(items, UserSettings):
        assert user.kifu_count == list(owners.values()).count(user.username)
        assert user.tag_count == len([it for it in tags.values() if it.username == user.username])


def test_results_follow_from_the_moves_and_the_last_line(items: list[Entity]):
    said = {"千日手": {"sennichite"}, "持将棋": {"jishogi"}, "中断": {"draw", "none"}}
    for it in items_of_kind(items, Record):
        *_, last = it.kifu.splitlines()
        number, ending = last.split()
        if ending in said:
            assert it.result in said[ending]
        else:
            # The player to move resigns or runs out of time: the first player on odd numbers.
            loser = "first" if int(number) % 2 else "second"
            assert it.result == ("lose" if it.first_or_second == loser else "win")


@pytest.mark.parametrize("opening", OPENINGS)
def test_a_game_reads_as_kif(opening: str):
    game = Game(opening=opening, first="鈴木", second="佐藤", day="2025-12-31", moves=11, ending="投了")
    lines = format_kif(game).splitlines()
    assert lines[1:4] == ["手合割：平手", "先手：鈴木", "後手：佐藤"]
    assert lines[-1] == "  12 投了"
    assert len(lines) == 6 + 12
    assert ("同　銀(68)" in format_kif(game)) == (opening == "角換わり")


async def test_the_library_can_be_stored_and_read(embedded: Store, items: list[Entity]):
    await embedded.write_many(put=items)
    store_account = next(it for it in items_of_kind(items, Record) if it.username == HANAKO and not it.public)
    assert await visible_record(embedded, MINJUN, HANAKO, store_account.kifu_id) == public_view(store_account)
    assert await visible_record(embedded, None, HANAKO, store_account.kifu_id) is None
