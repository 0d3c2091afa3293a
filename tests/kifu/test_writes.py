"""The effect and the refusals of every write, one at a time."""

import pytest
from msgspec.structs import replace

from tests.kifu.records import (
    FRIEND,
    ME,
    NOW,
    a_record,
    a_tag,
    add_records,
    add_tags,
    claim_of,
    create_users,
    kid,
    settings,
    tag_exists,
    tid,
)
from zataku.kifu import design
from zataku.kifu.entities import (
    Analysis,
    Record,
    RemovedRecord,
    SlugClaim,
    SystemSettings,
    Tagging,
    UserSettings,
)
from zataku.kifu.errors import InvalidChange, LibraryFull, NotOwner, TagsFull
from zataku.kifu.limits import AnalysisId, PositionHash
from zataku.kifu.writes import (
    add_record,
    add_tag,
    allow_library,
    allow_record,
    change_moves,
    change_record,
    create_user_settings,
    disallow_record,
    finish_analysis,
    keep_positions,
    keep_result,
    move_record,
    remove_record,
    remove_tag,
    rename_tag,
    request_analysis,
    set_kifu_cap,
    set_system_caps,
    set_tag_cap,
    tag_record,
    touch_record,
    touch_tag,
    untag_record,
)
from zataku.table import ConditionFailed, Store, TransactionCancelled, add_seconds, parse_instant

AID = AnalysisId("01JGE1XYZ00000000000000000")


async def links_of(store: Store, record: Record) -> list[Tagging]:
    return [link async for link in store.each(design.tags_of_record(record.kifu_id))]


async def test_user_settings_are_created_once(store: Store):
    await store.write(create_user_settings(ME))
    await add_records(store, a_record())
    with pytest.raises(ConditionFailed):
        await store.write(create_user_settings(ME))
    assert (await settings(store)).kifu_count == 1


async def test_adding_a_record_takes_its_slug_and_counts_it(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    assert await claim_of(store, record) == SlugClaim(username=ME, slug=record.slug, kifu_id=record.kifu_id)
    assert (await settings(store)).kifu_count == 1
    for duplicate in (a_record(1, slug=record.slug), replace(record, slug="another")):
        with pytest.raises(TransactionCancelled):
            await store.write(add_record(duplicate, await settings(store)))
    assert (await settings(store)).kifu_count == 1
    assert await store.get(design.slug_claim(ME, "another")) is None


async def test_a_user_without_settings_has_no_library(store: Store):
    with pytest.raises(TransactionCancelled):
        await store.write(add_record(a_record(), UserSettings(username=ME)))
    assert await store.get(design.record(ME, kid(0))) is None


@pytest.mark.parametrize(("own", "system", "fits"), [(None, 2, 2), (3, 2, 3), (1, 2, 1), (0, 2, 0), (None, 0, 0)])
async def test_a_users_own_cap_overrides_the_systems(embedded: Store, own: int | None, system: int, fits: int):
    await embedded.put(UserSettings(username=ME, kifu_max=own, tag_max=own))
    caps = SystemSettings(kifu_max=system, tag_max=system)
    for number in range(fits):
        await embedded.write(add_record(a_record(number), await settings(embedded), caps))
        await embedded.write(add_tag(a_tag(number), await settings(embedded), caps))
    with pytest.raises(LibraryFull):
        add_record(a_record(9), await settings(embedded), caps)
    with pytest.raises(TagsFull):
        add_tag(a_tag(9), await settings(embedded), caps)


async def test_caps_are_2000_records_and_50_tags_unless_set(embedded: Store):
    full = UserSettings(username=ME, kifu_count=1999, tag_count=49)
    add_record(a_record(), full)
    add_tag(a_tag(), full)
    with pytest.raises(LibraryFull, match="2,000"):
        add_record(a_record(), replace(full, kifu_count=2000))
    with pytest.raises(TagsFull, match="50"):
        add_tag(a_tag(), replace(full, tag_count=50))


async def test_an_addition_that_read_another_cap_is_refused(store: Store):
    await create_users(store)
    loaded = await settings(store)
    await store.write(set_kifu_cap(ME, 1))
    await store.write(set_tag_cap(ME, 2))
    assert await settings(store) == replace(loaded, kifu_max=1, tag_max=2)
    for plan in (add_record(a_record(), loaded), add_tag(a_tag(), loaded)):
        with pytest.raises(TransactionCancelled):
            await store.write(plan)
    await store.write(set_kifu_cap(ME, None))
    await store.write(set_tag_cap(ME, None))
    assert await settings(store) == loaded
    await store.write(add_record(a_record(), loaded))


async def test_concurrent_changes_of_system_caps_conflict_only_on_the_same_cap(store: Store):
    was = await store.write(set_system_caps(SystemSettings(kifu_max=5, tag_max=6), None))
    with pytest.raises(ConditionFailed):
        await store.write(set_system_caps(SystemSettings(kifu_max=9), None))
    # Two hosts who have read the same caps: of different ones both stay, of the same one the first.
    await store.write(set_system_caps(replace(was, kifu_max=7), was))
    await store.write(set_system_caps(replace(was, tag_max=8), was))
    with pytest.raises(ConditionFailed):
        await store.write(set_system_caps(replace(was, kifu_max=9), was))
    with pytest.raises(InvalidChange):
        set_system_caps(was, was)
    assert await store.get(design.system_settings(), strong=True) == SystemSettings(kifu_max=7, tag_max=8)


async def test_moving_a_record_frees_its_old_slug(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record(slug="a/b"))
    record = await store.write(change_moves(replace(record, kifu="x"), record, await claim_of(store, record), NOW))
    moved = await store.write(move_record(record, await claim_of(store, record), "c/d", add_seconds(NOW, 60)))
    assert moved == replace(record, slug="c/d", latest_update=add_seconds(NOW, 60))
    assert await store.get(design.record(ME, kid(0))) == moved
    assert await store.get(design.slug_claim(ME, "a/b")) is None
    assert (await claim_of(store, moved)).text == 1
    await add_records(store, a_record(1, slug="a/b"))


async def test_a_taken_slug_is_refused_and_nothing_moves(store: Store):
    await create_users(store)
    first, second = await add_records(store, a_record(0), a_record(1))
    with pytest.raises(TransactionCancelled):
        await store.write(move_record(first, await claim_of(store, first), second.slug, NOW))
    assert await store.get(design.record(ME, kid(0))) == first
    with pytest.raises(InvalidChange):
        move_record(first, await claim_of(store, first), first.slug, NOW)
    with pytest.raises(InvalidChange):
        move_record(first, await claim_of(store, second), "c", NOW)


async def test_removing_a_record_frees_its_slug_decrements_the_count_and_leaves_a_marker(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    claim = await claim_of(store, record)
    await store.write(remove_record(claim))
    assert await store.get(design.record(ME, kid(0))) is None
    assert await store.get(design.slug_claim(ME, record.slug)) is None
    assert (await settings(store)).kifu_count == 0
    assert [marker async for marker in store.each(design.cleanup_markers_of(ME))] == [
        RemovedRecord(username=ME, kifu_id=kid(0))
    ]
    with pytest.raises(TransactionCancelled):
        await store.write(remove_record(claim))
    assert (await settings(store)).kifu_count == 0


async def test_a_count_never_falls_below_zero(store: Store):
    """A wrong count stops the removal instead of allowing more records than the cap."""
    await create_users(store)
    (record,) = await add_records(store, a_record())
    (tag,) = await add_tags(store, a_tag())
    claim = await claim_of(store, record)
    await store.write_many(put=[UserSettings(username=ME, kifu_count=0, tag_count=0)])
    for plan in (remove_record(claim), remove_tag(tag)):
        with pytest.raises(TransactionCancelled):
            await store.write(plan)
    assert await store.get(design.record(ME, kid(0))) == record
    assert await tag_exists(store, tag)


async def test_a_view_is_written_once_an_hour(store: Store):
    await create_users(store)
    await add_records(store, a_record())
    for seconds, written in ((0, False), (3599, False), (3600, True), (7199, False), (7200, True)):
        touch = touch_record(ME, ME, kid(0), add_seconds(NOW, seconds))
        if written:
            assert (await store.write(touch)).latest_access == add_seconds(NOW, seconds)
        else:
            with pytest.raises(ConditionFailed):
                await store.write(touch)
    with pytest.raises(NotOwner):
        touch_record(FRIEND, ME, kid(0), NOW)
    with pytest.raises(ConditionFailed):
        await store.write(touch_record(ME, ME, kid(9), NOW))


async def test_a_view_does_not_conflict_with_a_change(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    await store.write(touch_record(ME, ME, kid(0), add_seconds(NOW, 3600)))
    await store.write(change_record(replace(record, memo="x"), record, add_seconds(NOW, 3601)))
    stored = await store.get(design.record(ME, kid(0)))
    assert (stored.memo, stored.latest_access) == ("x", add_seconds(NOW, 3600))


async def test_a_view_of_a_tag_is_written_once_an_hour(store: Store):
    await create_users(store)
    (tag,) = await add_tags(store, a_tag())
    with pytest.raises(ConditionFailed):
        await store.write(touch_tag(ME, tag.tag_id, add_seconds(NOW, 3599)))
    at = add_seconds(NOW, 3600)
    assert await store.write(touch_tag(ME, tag.tag_id, at)) == replace(tag, latest_access=at)
    with pytest.raises(ConditionFailed):
        await store.write(touch_tag(ME, tid(9), at))


async def test_a_tag_name_stays_unique_when_tags_are_added_renamed_and_removed(store: Store):
    await create_users(store)
    first, second = await add_tags(store, a_tag(0, name="矢倉"), a_tag(1, name="雁木"))
    with pytest.raises(TransactionCancelled):
        await store.write(add_tag(a_tag(2, name="矢倉"), await settings(store)))
    with pytest.raises(TransactionCancelled):
        await store.write(rename_tag(second, "矢倉", NOW))
    renamed = await store.write(rename_tag(first, "早囲い", add_seconds(NOW, 5)))
    assert await store.get(design.tag(ME, tid(0))) == renamed
    second = await store.write(rename_tag(second, "矢倉", NOW))
    with pytest.raises(TransactionCancelled):
        await store.write(remove_tag(first))
    await store.write(remove_tag(second))
    assert await store.get(design.tag_name_claim(ME, "矢倉")) is None
    assert (await settings(store)).tag_count == 1
    assert await tag_exists(store, renamed)
    with pytest.raises(InvalidChange):
        rename_tag(first, first.name, NOW)


async def test_a_record_is_tagged_and_untagged_with_tags_of_its_owner_only(store: Store):
    await create_users(store, ME, FRIEND)
    (record,) = await add_records(store, a_record())
    tag, theirs = await add_tags(store, a_tag(), a_tag(7, username=FRIEND))
    claim = await claim_of(store, record)
    await store.write(tag_record(claim, tag))
    with pytest.raises(TransactionCancelled):
        await store.write(tag_record(claim, tag))
    assert await links_of(store, record) == [Tagging(kifu_id=kid(0), tag_id=tag.tag_id)]
    await store.write(untag_record(claim, tag))
    await store.write(untag_record(claim, tag))
    assert await links_of(store, record) == []
    for write in (tag_record, untag_record):
        with pytest.raises(NotOwner):
            write(claim, theirs)


async def test_writes_that_depend_on_a_removed_record_are_refused_even_if_its_slug_is_reused(store: Store):
    await create_users(store)
    (removed,) = await add_records(store, a_record(0))
    tag, lost = await add_tags(store, a_tag(0), a_tag(1))
    claim = await claim_of(store, removed)
    analysis = Analysis(
        analysis_id=AID, username=ME, created=NOW, status="succeeded", response="{}", kifu_id=removed.kifu_id
    )
    dependent_plans = (
        tag_record(claim, tag),
        untag_record(claim, tag),
        allow_record(claim, FRIEND),
        disallow_record(claim, FRIEND),
        keep_positions(claim, 0, [PositionHash("0" * 16)]),
        keep_result(analysis, claim, NOW),
        remove_record(claim),
    )
    await store.write(remove_record(claim))
    for plan in dependent_plans:
        with pytest.raises(TransactionCancelled):
            await store.write(plan)
    (other,) = await add_records(store, a_record(5, slug=removed.slug))
    for plan in dependent_plans:
        with pytest.raises(TransactionCancelled):
            await store.write(plan)
    theirs = await claim_of(store, other)
    await store.write(remove_tag(lost))
    for plan in (tag_record(theirs, lost), untag_record(theirs, lost)):
        with pytest.raises(TransactionCancelled):
            await store.write(plan)


def test_a_permission_for_the_owner_is_refused():
    claim = SlugClaim(username=ME, slug="a", kifu_id=kid(0))
    with pytest.raises(InvalidChange):
        allow_record(claim, ME)
    with pytest.raises(InvalidChange):
        allow_library(ME, ME)


async def test_an_analysis_waits_then_finishes_once(store: Store):
    requested = await store.write(request_analysis(AID, ME, NOW, kid(0), '{"game": true}'))
    assert (requested.status, requested.expired) == ("waiting", parse_instant(NOW) + 86_400)
    with pytest.raises(ConditionFailed):
        await store.write(request_analysis(AID, FRIEND, NOW))
    at = add_seconds(NOW, 50)
    done = await store.write(finish_analysis(AID, "succeeded", "{}", at))
    assert (done.status, done.response, done.expired) == ("succeeded", "{}", parse_instant(at) + 86_400)
    with pytest.raises(ConditionFailed):
        await store.write(finish_analysis(AID, "error", "crash", at))
    assert await store.get(design.analysis(AID)) == done


def test_a_result_beyond_64_kilobytes_is_refused_before_it_is_written():
    with pytest.raises(ValueError, match="65,536"):
        finish_analysis(AID, "succeeded", "歩" * 30_000, NOW)


async def test_a_result_is_kept_with_its_record(store: Store):
    await create_users(store)
    (record,) = await add_records(store, a_record())
    claim = await claim_of(store, record)
    waiting = await store.write(request_analysis(AID, ME, NOW, kid(0)))
    with pytest.raises(InvalidChange):
        keep_result(waiting, claim, NOW)
    done = await store.write(finish_analysis(AID, "succeeded", "{}", NOW))
    for stranger in (replace(done, username=FRIEND), replace(done, kifu_id=kid(1))):
        with pytest.raises(NotOwner):
            keep_result(stranger, claim, NOW)
    kept = await store.write(keep_result(done, claim, NOW))
    assert [analysis async for analysis in store.each(design.kept_analyses(kid(0)))] == [kept]


def test_additions_to_another_users_library_are_refused():
    with pytest.raises(NotOwner):
        add_record(a_record(), UserSettings(username=FRIEND))
    with pytest.raises(NotOwner):
        add_tag(a_tag(), UserSettings(username=FRIEND))
