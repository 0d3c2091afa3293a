"""Every access pattern of the library, on every kind of store."""

from msgspec.structs import replace

from tests.kifu.records import FRIEND, ME, NOW, STRANGER, a_record, a_tag, kid, tid
from tests.support.store_reads import assert_query_returns, eventually
from zataku.kifu import design
from zataku.kifu.design import (
    AccessedRecord,
    CreatedRecord,
    CreatedTag,
    NamedRecord,
    NamedTag,
    RecordReference,
    UpdatedRecord,
)
from zataku.kifu.entities import (
    Analysis,
    KeptAnalysis,
    LibraryPermission,
    Position,
    PositionList,
    Record,
    RecordPermission,
    RemovedRecord,
    RemovedTag,
    ReplacedText,
    SlugClaim,
    SystemSettings,
    Tagging,
    TagNameClaim,
    UserSettings,
)
from zataku.kifu.limits import AnalysisId, PositionHash, ShareCode
from zataku.table import Store, add_seconds

CODE = ShareCode("lkihofkwif4tF")


def named_fields(record: Record) -> dict[str, object]:
    return {
        "username": record.username,
        "kifu_id": record.kifu_id,
        "slug": record.slug,
        "share_code": record.share_code,
    }


THREE = (
    a_record(1, created=NOW, latest_access=add_seconds(NOW, 30), latest_update=add_seconds(NOW, 20)),
    a_record(2, created=add_seconds(NOW, 1), latest_access=add_seconds(NOW, 10), latest_update=add_seconds(NOW, 30)),
    a_record(
        3,
        created=add_seconds(NOW, 2),
        latest_access=add_seconds(NOW, 20),
        latest_update=add_seconds(NOW, 10),
        share=True,
        share_code=CODE,
    ),
)
THEIRS = a_record(4, username=FRIEND)


async def store_library(store: Store) -> None:
    await store.write_many(put=[*THREE, THEIRS])


async def test_records_are_listed_by_creation_time(store: Store):
    await store_library(store)
    rows = [CreatedRecord(**named_fields(record), share=record.share, created=record.created) for record in THREE]
    await assert_query_returns(store, design.records_by_creation(ME, newest_first=False), *rows)
    await assert_query_returns(store, design.records_by_creation(ME), *reversed(rows))
    await assert_query_returns(store, design.library_of(ME), *rows)


async def test_records_are_listed_by_the_time_of_the_last_view(store: Store):
    await store_library(store)
    rows = [
        AccessedRecord(**named_fields(record), share=record.share, latest_access=record.latest_access)
        for record in THREE
    ]
    await assert_query_returns(store, design.records_by_access(ME, newest_first=False), rows[1], rows[2], rows[0])
    await assert_query_returns(store, design.records_by_access(ME), rows[0], rows[2], rows[1])


async def test_records_are_listed_by_the_time_of_the_last_change(store: Store):
    await store_library(store)
    rows = [
        UpdatedRecord(**named_fields(record), share=record.share, latest_update=record.latest_update)
        for record in THREE
    ]
    await assert_query_returns(store, design.records_by_update(ME, newest_first=False), rows[2], rows[0], rows[1])
    await assert_query_returns(store, design.records_by_update(ME), rows[1], rows[0], rows[2])


async def test_a_folder_has_its_records_and_those_of_folders_inside(store: Store):
    slugs = ["社団戦/2025/鈴木", "社団戦/2025/春/田中", "社団戦/2025b/佐藤", "社団戦/2025", "社団戦/2026/鈴木"]
    records = [a_record(number, slug=slug) for number, slug in enumerate(slugs)]
    await store.write_many(put=records)
    inside = sorted(records[:2], key=lambda record: record.slug)
    await assert_query_returns(
        store, design.records_in_folder(ME, "社団戦/2025"), *(NamedRecord(**named_fields(record)) for record in inside)
    )
    await assert_query_returns(store, design.records_in_folder(ME, "道場"))
    await assert_query_returns(store, design.records_in_folder(ME, "社団"))
    everything = sorted(records, key=lambda record: record.slug.encode())
    await assert_query_returns(
        store, design.records_in_folder(ME, ""), *(NamedRecord(**named_fields(record)) for record in everything)
    )


async def test_a_slug_identifies_one_record(store: Store):
    await store_library(store)
    await assert_query_returns(store, design.record_at(ME, THREE[0].slug), NamedRecord(**named_fields(THREE[0])))
    await assert_query_returns(store, design.record_at(ME, "社団戦/2025"))


async def test_a_record_is_read_with_its_moves(store: Store):
    await store_library(store)
    assert await store.get(design.record(ME, kid(3))) == THREE[2]
    assert await store.get(design.record(FRIEND, kid(3))) is None
    assert design.record(ME, kid(3)).strong


async def test_a_record_is_found_by_its_id_alone(store: Store):
    await store_library(store)
    await store.put(Tagging(kifu_id=kid(4), tag_id=tid(1)))
    await assert_query_returns(store, design.record_of_id(kid(4)), RecordReference(username=FRIEND, kifu_id=kid(4)))


async def test_a_record_is_found_by_its_share_code(store: Store):
    await store_library(store)
    await assert_query_returns(store, design.records_under_code(CODE), RecordReference(username=ME, kifu_id=kid(3)))
    await assert_query_returns(store, design.records_under_code(ShareCode("ABC123ABC123ABC")))


async def test_a_claim_names_the_holder_of_a_slug_or_a_tag_name(store: Store):
    slug = SlugClaim(username=ME, slug="a/b", kifu_id=kid(1), text=2)
    name = TagNameClaim(username=ME, name="a/b", tag_id=tid(1))
    await store.write_many(put=[slug, name])
    assert await store.get(design.slug_claim(ME, "a/b")) == slug
    assert await store.get(design.tag_name_claim(ME, "a/b")) == name
    assert await store.get(design.slug_claim(FRIEND, "a/b")) is None
    assert design.slug_claim(ME, "a/b").strong
    assert design.tag_name_claim(ME, "a/b").strong


async def test_settings_of_a_user_and_of_the_system_are_read(store: Store):
    user, system = UserSettings(username=ME, kifu_max=3000, kifu_count=7), SystemSettings(kifu_max=3000)
    await store.write_many(put=[user, system])
    assert await store.get(design.user_settings(ME)) == user
    await eventually(lambda: store.get(design.system_settings()), system)


async def test_tags_are_listed_by_name_and_by_creation_time(store: Store):
    names = ["四間飛車", "四間飛車左", "中飛車"]
    tags = [a_tag(at, name=name, created=add_seconds(NOW, at)) for at, name in enumerate(names)]
    await store.write_many(put=[*tags, a_tag(9, username=FRIEND), *THREE])
    rows = [NamedTag(username=ME, tag_id=tag.tag_id, name=tag.name) for tag in tags]
    await assert_query_returns(store, design.tags_named(ME, "四間飛車"), rows[0], rows[1])
    await assert_query_returns(store, design.tags_named(ME), rows[2], rows[0], rows[1])
    dated = [CreatedTag(username=ME, tag_id=tag.tag_id, name=tag.name, created=tag.created) for tag in tags]
    await assert_query_returns(store, design.tags_by_creation(ME, newest_first=False), *dated)
    await assert_query_returns(store, design.tags_by_creation(ME), *reversed(dated))
    assert await store.get(design.tag(ME, tid(1))) == tags[1]


async def test_links_are_read_by_record_and_by_tag(store: Store):
    links = [Tagging(kifu_id=kid(record), tag_id=tid(tag)) for record, tag in ((1, 1), (1, 2), (2, 1))]
    await store.write_many(put=[*links, a_tag(1), *THREE])
    await assert_query_returns(store, design.tags_of_record(kid(1)), links[0], links[1])
    await assert_query_returns(store, design.records_with_tag(tid(1)), links[0], links[2])


async def test_permissions_are_read_by_record_by_library_and_by_user(store: Store):
    friend_permission = RecordPermission(kifu_id=kid(1), username=FRIEND)
    stranger_permission = RecordPermission(kifu_id=kid(1), username=STRANGER)
    library = LibraryPermission(owner=ME, username=FRIEND)
    own_permission = LibraryPermission(owner=FRIEND, username=ME)
    await store.write_many(
        put=[friend_permission, stranger_permission, library, own_permission, UserSettings(username=FRIEND), *THREE]
    )
    await assert_query_returns(store, design.record_viewers(kid(1)), friend_permission, stranger_permission)
    await assert_query_returns(store, design.library_viewers(ME), library)
    await assert_query_returns(store, design.permissions_of_user(FRIEND), friend_permission, library)
    await assert_query_returns(store, design.permissions_of_user(ME), own_permission)
    assert await store.get(design.record_permission(kid(1), FRIEND)) == friend_permission
    assert await store.get(design.library_permission(ME, FRIEND)) == library
    assert await store.get(design.library_permission(ME, STRANGER)) is None


async def test_analyses_are_listed_in_the_order_of_their_requests(store: Store):
    ids = [AnalysisId(f"01JGE1XYZ{at}{'0' * 16}") for at in range(3)]
    analyses = [Analysis(analysis_id=analysis_id, username=ME, created=NOW, status="waiting") for analysis_id in ids]
    await store.write_many(put=[*analyses, replace(analyses[0], analysis_id=AnalysisId("fdjsklfadf"), username=FRIEND)])
    await assert_query_returns(store, design.analyses_of(ME), *reversed(analyses))
    await assert_query_returns(store, design.analyses_of(ME, newest_first=False), *analyses)
    assert await store.get(design.analysis(ids[1])) == analyses[1]


async def test_kept_results_are_listed_by_record(store: Store):
    results = [
        KeptAnalysis(kifu_id=kid(1), analysis_id=AnalysisId(f"01JGE1XYZ{at}{'0' * 16}"), response="{}", kept_at=NOW)
        for at in range(2)
    ]
    await store.write_many(put=results)
    await assert_query_returns(store, design.kept_analyses(kid(1)), *results)


async def test_games_are_found_by_a_position(store: Store):
    position, other_position = PositionHash("0" * 16), PositionHash("f" * 16)
    positions = [Position(username=ME, position=position, kifu_id=kid(at), text=at) for at in range(3)]
    parts = ((0, 0), (0, 1), (0, 11), (9, 0), (10, 0))
    position_lists = [
        PositionList(username=ME, kifu_id=kid(1), text=text, part=part, positions=bytes(8)) for text, part in parts
    ]
    others = [replace(positions[0], username=FRIEND), replace(positions[1], position=other_position)]
    await store.write_many(put=[*positions, *position_lists, *others])
    await assert_query_returns(store, design.records_at_position(ME, position), *positions)
    await assert_query_returns(store, design.positions_of(ME, kid(1)), *position_lists)


async def test_removals_leave_markers_for_their_owner(store: Store):
    markers = [
        RemovedRecord(username=ME, kifu_id=kid(1)),
        ReplacedText(username=ME, kifu_id=kid(1), text=7),
        RemovedTag(username=ME, tag_id=tid(1)),
    ]
    await store.write_many(put=[*markers, RemovedTag(username=FRIEND, tag_id=tid(2))])
    await assert_query_returns(store, design.cleanup_markers_of(ME), markers[0], markers[1], markers[2])
