"""The sample library is reproducible and follows the rules of a real one."""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from tests.support.stores import START
from zataku.kifu.authorization import public_view, visible_record
from zataku.kifu.entities import (
    LibraryPermission,
    Position,
    PositionList,
    Record,
    RecordPermission,
    RemovedRecord,
    RemovedTag,
    ReplacedText,
    SlugClaim,
    Tag,
    Tagging,
    TagNameClaim,
    UserSettings,
)
from zataku.kifu.sample_games import OPENINGS, Game, format_kif
from zataku.kifu.samples import HANAKO, MINJUN, SHARES, examples, library
from zataku.table import Entity, Store
from zataku.table.schema.entity import binding_of


@pytest.fixture(scope="module")
def items() -> list[Entity]:
    return list(library(Random(2025), START))


def items_of_kind(items: list[Entity], kind: type) -> list:
    return [item for item in items if isinstance(item, kind)]


def test_the_same_seed_gives_the_same_library(items: list[Entity]):
    assert list(library(Random(2025), START)) == items
    assert list(islice(library(Random(1), START), 30)) != items[:30]


def test_the_library_is_generated_item_by_item():
    assert len(list(islice(library(Random(1), START, records=10**9), 100))) == 100


def test_the_samples_have_500_records_with_every_result(items: list[Entity]):
    records = items_of_kind(items, Record)
    assert len(records) == 500
    assert {record.result for record in records} == {"win", "lose", "draw", "sennichite", "jishogi", "none"}
    assert {record.username for record in records} == set(SHARES)
    assert any(record.share for record in records)
    assert any(record.public for record in records)
    assert items_of_kind(items, RecordPermission)
    assert items_of_kind(items, LibraryPermission)


def test_every_item_can_be_stored_and_has_its_own_key(items: list[Entity]):
    keys = Counter((stored["pk"], stored["sk"]) for stored in (binding_of(type(item)).encode(item) for item in items))
    assert set(keys.values()) == {1}


def test_claims_counts_and_links_match(items: list[Entity]):
    records = items_of_kind(items, Record)
    claims = {(claim.username, claim.slug): claim for claim in items_of_kind(items, SlugClaim)}
    assert {key: claim.kifu_id for key, claim in claims.items()} == {
        (record.username, record.slug): record.kifu_id for record in records
    }
    tags = {tag.tag_id: tag for tag in items_of_kind(items, Tag)}
    assert {(tag.username, tag.name, tag.tag_id) for tag in tags.values()} == {
        (claim.username, claim.name, claim.tag_id) for claim in items_of_kind(items, TagNameClaim)
    }
    owners = {record.kifu_id: record.username for record in records}
    for link in items_of_kind(items, Tagging):
        assert tags[link.tag_id].username == owners[link.kifu_id]
    for user in items_of_kind(items, UserSettings):
        assert user.kifu_count == list(owners.values()).count(user.username)
        assert user.tag_count == len([tag for tag in tags.values() if tag.username == user.username])


def test_results_follow_from_the_moves_and_the_last_line(items: list[Entity]):
    results_by_ending = {"千日手": {"sennichite"}, "持将棋": {"jishogi"}, "中断": {"draw", "none"}}
    for record in items_of_kind(items, Record):
        *_, last = record.kifu.splitlines()
        number, ending = last.split()
        if ending in results_by_ending:
            assert record.result in results_by_ending[ending]
        else:
            # The player to move resigns or runs out of time: the first player on odd numbers.
            loser = "first" if int(number) % 2 else "second"
            assert record.result == ("lose" if record.first_or_second == loser else "win")


def test_the_examples_of_the_design_document_are_one_library():
    items = list(examples())
    records = {record.kifu_id: record for record in items_of_kind(items, Record)}
    texts = {claim.kifu_id: claim.text for claim in items_of_kind(items, SlugClaim)}
    (position,), (positions,) = items_of_kind(items, Position), items_of_kind(items, PositionList)
    assert position.text == positions.text == texts[position.kifu_id]
    assert position.position in positions.hashes
    (replaced,) = items_of_kind(items, ReplacedText)
    assert replaced.text < texts[replaced.kifu_id]
    (removed_record,), (removed_tag,) = items_of_kind(items, RemovedRecord), items_of_kind(items, RemovedTag)
    assert removed_record.kifu_id not in records
    assert removed_tag.tag_id not in {tag.tag_id for tag in items_of_kind(items, Tag)}
    assert all(record.created <= record.latest_update <= record.latest_access for record in records.values())


@pytest.mark.parametrize("opening", OPENINGS)
def test_a_sample_game_is_formatted_as_kif(opening: str):
    game = Game(opening=opening, first="鈴木", second="佐藤", day="2025-12-31", moves=11, ending="投了")
    lines = format_kif(game).splitlines()
    assert lines[1:4] == ["手合割：平手", "先手：鈴木", "後手：佐藤"]
    assert lines[-1] == "  12 投了"
    assert len(lines) == 6 + 12
    assert ("同　銀(68)" in format_kif(game)) == (opening == "角換わり")


async def test_the_library_can_be_stored_and_read(embedded: Store, items: list[Entity]):
    await embedded.write_many(put=items)
    private_record = next(
        record for record in items_of_kind(items, Record) if record.username == HANAKO and not record.public
    )
    assert await visible_record(embedded, MINJUN, HANAKO, private_record.kifu_id) == public_view(private_record)
    assert await visible_record(embedded, None, HANAKO, private_record.kifu_id) is None
