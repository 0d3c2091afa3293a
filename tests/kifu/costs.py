"""For each access pattern the case that its budget describes."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from tests.kifu.records import (
    FRIEND,
    ME,
    NOW,
    a_record,
    a_record_of,
    a_tag,
    create_users,
    kid,
    settings,
    tid,
)
from tests.support.cost_assertions import Case
from tests.support.stores import START
from zataku.kifu import design, writes
from zataku.kifu.entities import (
    Analysis,
    KeptAnalysis,
    LibraryPermission,
    Position,
    PositionList,
    Record,
    RecordPermission,
    RemovedRecord,
    SlugClaim,
    SystemSettings,
    Tagging,
    TagNameClaim,
)
from zataku.kifu.limits import AnalysisId, PositionHash, ShareCode
from zataku.kifu.samples import largest_record
from zataku.table import Entity, Key, Plan, Query, Store, add_seconds

CODE = ShareCode("lkihofkwif4tF" + "0" * 9)
AID = AnalysisId("01JGE1XYZ00000000000000000")
HERE = PositionHash("0" * 16)
RESULT = "r" * 20_000
FIFTY = range(50)

TYPICAL = a_record_of(1700)
SHARED = replace(TYPICAL, share=True, share_code=CODE)
CLAIM = SlugClaim(username=ME, slug=TYPICAL.slug, kifu_id=TYPICAL.kifu_id)
TAG = a_tag()
NAME = TagNameClaim(username=ME, name=TAG.name, tag_id=TAG.tag_id)
LINKS = [Tagging(kifu_id=kid(0), tag_id=tid(at)) for at in FIFTY]
FINISHED = Analysis(analysis_id=AID, username=ME, created=NOW, status="succeeded", response=RESULT, kifu_id=kid(0))
HASHES = [PositionHash(f"{at:016x}") for at in range(98)]
LISTED = PositionList(username=ME, kifu_id=kid(0), text=0, part=0, positions=bytes.fromhex("".join(HASHES)))


def read_case(read: Query[Any] | Key[Any], *stored: Entity) -> Case:
    """The case of reading a page of 50, or one item, of the stored items."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store.write_many(put=stored)
        if isinstance(read, Key):
            return lambda: store.get(read)
        return lambda: store.page(read)

    return case


def write_case(make: Callable[[], Plan[Any]], *stored: Entity) -> Case:
    """The case of a write to the stored items."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store.write_many(put=stored)
        return lambda: store.write(make())

    return case


def add_case(make: Callable[..., Plan[Any]], entity: Entity) -> Case:
    """The case of adding an entity to an existing library."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await create_users(store)
        owner = await settings(store)
        return lambda: store.write(make(entity, owner))

    return case


def remove_case(make: Callable[[], Plan[Any]], *stored: Entity) -> Case:
    """The case of removing an entity from a library that counts it."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await create_users(store)
        await store.put(replace(await settings(store), kifu_count=1, tag_count=1))
        await store.write_many(put=stored)
        return lambda: store.write(make())

    return case


RECORDS: list[Record] = [a_record(at) for at in FIFTY]
TAGS = [a_tag(at) for at in FIFTY]
ALLOWED = [RecordPermission(kifu_id=kid(0), username=f"user{at:03d}") for at in FIFTY]

CASES: dict[str, Case] = {
    "records_by_creation": read_case(design.records_by_creation(ME), *RECORDS),
    "records_by_access": read_case(design.records_by_access(ME), *RECORDS),
    "records_by_update": read_case(design.records_by_update(ME), *RECORDS),
    "records_in_folder": read_case(design.records_in_folder(ME, "社団戦/2025"), *RECORDS),
    "record_at": read_case(design.record_at(ME, RECORDS[0].slug), *RECORDS),
    "library_of": read_case(design.library_of(ME), *RECORDS),
    "record": read_case(design.record(ME, kid(0)), largest_record(ME, kid(0), START)),
    "record_of_id": read_case(design.record_of_id(kid(0)), TYPICAL),
    "records_under_code": read_case(design.records_under_code(CODE), SHARED),
    "slug_claim": read_case(design.slug_claim(ME, CLAIM.slug), CLAIM),
    "user_settings": read_case(design.user_settings(ME)),
    "system_settings": read_case(design.system_settings(), SystemSettings()),
    "tags_named": read_case(design.tags_named(ME), *TAGS),
    "tags_by_creation": read_case(design.tags_by_creation(ME), *TAGS),
    "tag": read_case(design.tag(ME, TAG.tag_id), TAG),
    "tag_name_claim": read_case(design.tag_name_claim(ME, TAG.name), NAME),
    "tags_of_record": read_case(design.tags_of_record(kid(0)), *LINKS),
    "records_with_tag": read_case(
        design.records_with_tag(tid(0)), *(Tagging(kifu_id=kid(at), tag_id=tid(0)) for at in FIFTY)
    ),
    "record_permission": read_case(design.record_permission(kid(0), FRIEND)),
    "library_permission": read_case(design.library_permission(ME, FRIEND)),
    "record_viewers": read_case(design.record_viewers(kid(0)), *ALLOWED),
    "library_viewers": read_case(
        design.library_viewers(ME), *(LibraryPermission(owner=ME, username=f"user{at:03d}") for at in FIFTY)
    ),
    "permissions_of_user": read_case(
        design.permissions_of_user(ME), *(RecordPermission(kifu_id=kid(at), username=ME) for at in FIFTY)
    ),
    "analyses_of": read_case(
        design.analyses_of(ME),
        *(
            Analysis(
                analysis_id=AnalysisId(f"01JGE1XY{at:02d}{'0' * 16}"),
                username=ME,
                created=NOW,
                status="waiting",
                kifu_id=kid(at),
            )
            for at in FIFTY
        ),
    ),
    "analysis": read_case(design.analysis(AID), FINISHED),
    "kept_analyses": read_case(
        design.kept_analyses(kid(0)), KeptAnalysis(kifu_id=kid(0), analysis_id=AID, response=RESULT, kept_at=NOW)
    ),
    "records_at_position": read_case(
        design.records_at_position(ME, HERE),
        *(Position(username=ME, position=HERE, kifu_id=kid(at), text=0) for at in FIFTY),
    ),
    "positions_of": read_case(
        design.positions_of(ME, kid(0)), LISTED, replace(LISTED, part=1, positions=LISTED.positions[: 8 * 23])
    ),
    "cleanup_markers_of": read_case(
        design.cleanup_markers_of(ME), *(RemovedRecord(username=ME, kifu_id=kid(at)) for at in FIFTY)
    ),
    "create_user_settings": write_case(lambda: writes.create_user_settings(ME)),
    "set_kifu_cap": remove_case(lambda: writes.set_kifu_cap(ME, 3000)),
    "set_tag_cap": remove_case(lambda: writes.set_tag_cap(ME, 50)),
    "set_system_caps": write_case(
        lambda: writes.set_system_caps(SystemSettings(kifu_max=3000), SystemSettings()), SystemSettings()
    ),
    "add_record": add_case(writes.add_record, TYPICAL),
    "change_record": write_case(
        lambda: writes.change_record(replace(TYPICAL, memo="序盤研究用"), TYPICAL, add_seconds(NOW, 9)), TYPICAL
    ),
    "change_moves": write_case(
        lambda: writes.change_moves(replace(TYPICAL, kifu="b" * 1700), TYPICAL, CLAIM, add_seconds(NOW, 9)),
        TYPICAL,
        CLAIM,
    ),
    "move_record": write_case(
        lambda: writes.move_record(TYPICAL, CLAIM, "社団戦/2026/鈴木", add_seconds(NOW, 9)), TYPICAL, CLAIM
    ),
    "remove_record": remove_case(lambda: writes.remove_record(CLAIM), TYPICAL, CLAIM),
    "touch_record": write_case(lambda: writes.touch_record(ME, ME, kid(0), add_seconds(NOW, 3600)), TYPICAL),
    "touch_tag": write_case(lambda: writes.touch_tag(ME, TAG.tag_id, add_seconds(NOW, 3600)), TAG),
    "add_tag": add_case(writes.add_tag, TAG),
    "rename_tag": write_case(lambda: writes.rename_tag(TAG, "中飛車", add_seconds(NOW, 9)), TAG, NAME),
    "remove_tag": remove_case(lambda: writes.remove_tag(TAG), TAG, NAME),
    "tag_record": write_case(lambda: writes.tag_record(CLAIM, TAG), CLAIM, TAG),
    "untag_record": write_case(lambda: writes.untag_record(CLAIM, TAG), CLAIM, TAG, LINKS[0]),
    "share_record": write_case(lambda: writes.share_record(TYPICAL, CODE), TYPICAL),
    "unshare_record": write_case(lambda: writes.unshare_record(SHARED), SHARED),
    "allow_record": write_case(lambda: writes.allow_record(CLAIM, FRIEND), CLAIM),
    "disallow_record": write_case(
        lambda: writes.disallow_record(CLAIM, FRIEND), CLAIM, RecordPermission(kifu_id=kid(0), username=FRIEND)
    ),
    "allow_library": write_case(lambda: writes.allow_library(ME, FRIEND)),
    "disallow_library": write_case(
        lambda: writes.disallow_library(ME, FRIEND), LibraryPermission(owner=ME, username=FRIEND)
    ),
    "request_analysis": write_case(lambda: writes.request_analysis(AID, ME, NOW, kid(0))),
    "finish_analysis": write_case(
        lambda: writes.finish_analysis(AID, "succeeded", RESULT, NOW),
        replace(FINISHED, status="waiting", response=None),
    ),
    "keep_result": write_case(lambda: writes.keep_result(FINISHED, CLAIM, NOW), CLAIM),
    "keep_positions": write_case(lambda: writes.keep_positions(CLAIM, 0, HASHES), CLAIM),
    "delete_positions": write_case(
        lambda: writes.delete_positions(LISTED),
        LISTED,
        *(Position(username=ME, position=position, kifu_id=kid(0), text=0) for position in HASHES),
    ),
}
