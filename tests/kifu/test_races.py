"""Rules that hold under concurrent writes. Where replies get lost, the final state is checked."""

import asyncio

from msgspec.structs import replace

from tests.kifu.records import (
    FRIEND,
    ME,
    NOW,
    STRANGER,
    a_record,
    a_tag,
    add_records,
    add_tags,
    claim_of,
    create_users,
    kid,
    settings,
    write_attempts,
)
from tests.support.concurrency import race
from zataku.kifu import design
from zataku.kifu.authorization import shared_record
from zataku.kifu.cleanup import clean_up_user
from zataku.kifu.entities import Analysis, Record, SlugClaim, UserSettings
from zataku.kifu.limits import AnalysisId, PositionHash, ShareCode
from zataku.kifu.writes import (
    add_record,
    add_tag,
    allow_record,
    change_moves,
    finish_analysis,
    keep_positions,
    keep_result,
    move_record,
    remove_record,
    remove_tag,
    rename_tag,
    request_analysis,
    set_kifu_cap,
    set_tag_cap,
    share_record,
    tag_record,
    touch_record,
    unshare_record,
)
from zataku.table import ResultUnknown, Store, add_seconds

AID = AnalysisId("01JGE1XYZ00000000000000000")
CODE = ShareCode("lkihofkwif4tF")
ANALYSIS = Analysis(analysis_id=AID, username=ME, created=NOW, status="succeeded", response="{}", kifu_id=kid(0))


async def library(store: Store) -> list[Record]:
    """All records of the user, each read strongly."""
    rows = [row async for row in store.each(design.library_of(ME))]
    records = await store.get_many([design.record(ME, row.kifu_id) for row in rows], strong=True)
    return [record for record in records if record is not None]


async def assert_claims_match(store: Store) -> None:
    """Slugs and claims match one to one, and the count is their number."""
    records = await library(store)
    # The scan may be stale, so the claims are read again.
    claims = [item async for item in store.scan(design.kifu_table) if isinstance(item, SlugClaim)]
    stored = await store.get_many([design.slug_claim(ME, item.slug) for item in [*claims, *records]], strong=True)
    existing = {(claim.slug, claim.kifu_id) for claim in stored if claim is not None}
    assert existing == {(record.slug, record.kifu_id) for record in records}
    assert (await settings(store)).kifu_count == len(records)


async def test_many_records_race_for_one_slug(contested: Store):
    await create_users(contested)
    owner = await settings(contested)
    result = await race(*(contested.write(add_record(a_record(at, slug="名局"), owner)) for at in range(8)))
    assert result.allows(1)
    assert len(await library(contested)) == 1
    await assert_claims_match(contested)


async def test_many_tags_race_for_one_name(contested: Store):
    await create_users(contested)
    owner = await settings(contested)
    old = await add_tags(contested, a_tag(90))
    result = await race(
        *(contested.write(add_tag(a_tag(at, name="矢倉"), owner)) for at in range(5)),
        *(contested.write(rename_tag(tag, "矢倉", add_seconds(NOW, 1))) for tag in old),
    )
    assert result.allows(1)
    claim = await contested.get(design.tag_name_claim(ME, "矢倉"))
    assert claim is not None
    assert (await contested.get(design.tag(ME, claim.tag_id))).name == "矢倉"
    existing = await contested.get_many([design.tag(ME, a_tag(at).tag_id) for at in (0, 1, 2, 3, 4, 90)], strong=True)
    assert [tag.name for tag in existing if tag is not None].count("矢倉") == 1
    assert (await settings(contested)).tag_count == len([tag for tag in existing if tag is not None])


async def test_concurrent_additions_do_not_exceed_the_cap_on_records(contested: Store):
    await contested.write_many(put=[UserSettings(username=ME, kifu_max=3, tag_max=3)])
    owner = await settings(contested)
    result = await race(*(contested.write(add_record(a_record(at), owner)) for at in range(8)))
    assert result.allows(3)
    await assert_claims_match(contested)
    assert len(await library(contested)) == 3


async def test_concurrent_additions_do_not_exceed_the_cap_on_tags(contested: Store):
    await contested.write_many(put=[UserSettings(username=ME, kifu_max=3, tag_max=2)])
    owner = await settings(contested)
    result = await race(*(contested.write(add_tag(a_tag(at), owner)) for at in range(6)))
    assert result.allows(2)
    existing = await contested.get_many([design.tag(ME, a_tag(at).tag_id) for at in range(6)], strong=True)
    assert len([tag for tag in existing if tag is not None]) == 2 == (await settings(contested)).tag_count


async def test_records_moved_to_each_others_slugs_at_once_keep_distinct_slugs(contested: Store):
    await create_users(contested)
    first, second = await add_records(contested, a_record(0, slug="a"), a_record(1, slug="b"))
    first_claim, second_claim = await claim_of(contested, first), await claim_of(contested, second)
    result = await race(
        contested.write(move_record(first, first_claim, "b", add_seconds(NOW, 1))),
        contested.write(move_record(second, second_claim, "a", add_seconds(NOW, 1))),
        contested.write(move_record(first, first_claim, "c", add_seconds(NOW, 1))),
        contested.write(move_record(second, second_claim, "c", add_seconds(NOW, 1))),
    )
    assert len(result.won) <= 2
    await assert_claims_match(contested)
    assert len({record.slug for record in await library(contested)}) == 2


async def test_a_record_is_removed_while_other_writes_depend_on_it(contested: Store):
    await create_users(contested)
    (record,) = await add_records(contested, a_record())
    tags = await add_tags(contested, *(a_tag(at) for at in range(3)))
    claim = await claim_of(contested, record)
    result = await race(
        *write_attempts(
            contested,
            *(tag_record(claim, tag) for tag in tags),
            allow_record(claim, FRIEND),
            keep_result(ANALYSIS, claim, NOW),
            keep_positions(claim, 0, [PositionHash("0" * 16)]),
            remove_record(claim),
            change_moves(replace(record, kifu="x"), record, claim, NOW),
            allow_record(claim, STRANGER),
        )
    )
    assert not result.unknown
    assert await contested.get(design.record(ME, kid(0))) is None
    assert (await settings(contested)).kifu_count == 0
    while not (await race(clean_up_user(contested, ME))).won:
        pass
    for query in (
        design.tags_of_record(kid(0)),
        design.record_viewers(kid(0)),
        design.kept_analyses(kid(0)),
        design.positions_of(ME, kid(0)),
        design.cleanup_markers_of(ME),
    ):
        assert [item async for item in contested.each(query)] == []


async def test_two_concurrent_removals_decrement_the_count_once(contested: Store):
    await create_users(contested)
    record, _ = await add_records(contested, a_record(0), a_record(1))
    tag, _ = await add_tags(contested, a_tag(0), a_tag(1))
    claim = await claim_of(contested, record)
    for removal in (remove_record(claim), remove_tag(tag)):
        result = await race(*write_attempts(contested, *[removal] * 4))
        assert (len(result.won), len(result.refused)) == (1, 3)
    user = await settings(contested)
    assert (user.kifu_count, user.tag_count) == (1, 1)


async def test_a_removed_tag_gets_no_more_links(contested: Store):
    await create_users(contested)
    records = await add_records(contested, *(a_record(at) for at in range(8)))
    (tag,) = await add_tags(contested, a_tag())
    claims = [await claim_of(contested, record) for record in records]
    await race(
        *write_attempts(
            contested,
            *(tag_record(claim, tag) for claim in claims[:2]),
            remove_tag(tag),
            *(tag_record(claim, tag) for claim in claims[2:4]),
        )
    )
    assert await contested.get(design.tag(ME, tag.tag_id)) is None
    # Records that never had the tag, so that only the missing tag can be the reason for the refusal.
    late = await race(*write_attempts(contested, *(tag_record(claim, tag) for claim in claims[4:])))
    assert (late.won, len(late.refused)) == ([], 4)
    while not (await race(clean_up_user(contested, ME))).won:
        pass
    for record in records:
        assert [link async for link in contested.each(design.tags_of_record(record.kifu_id))] == []
    assert (await settings(contested)).tag_count == 0


async def test_an_analysis_that_finishes_many_times_finishes_once(contested: Store):
    await contested.write_many(put=[request_analysis(AID, ME, NOW).steps[0].entity])
    result = await race(*(contested.write(finish_analysis(AID, "succeeded", f"engine {at}", NOW)) for at in range(8)))
    assert result.allows(1)
    stored = await contested.get(design.analysis(AID))
    assert stored.status == "succeeded"
    if result.won:
        assert [stored] == result.won


async def test_concurrent_views_are_written_once(contested: Store):
    await contested.write_many(put=[a_record()])
    at = add_seconds(NOW, 3600)
    result = await race(*(contested.write(touch_record(ME, ME, kid(0), at)) for _ in range(8)))
    assert result.allows(1)
    assert (await contested.get(design.record(ME, kid(0)))).latest_access == at


async def test_a_code_opens_nothing_once_unsharing_is_acknowledged(contested: Store):
    shared = a_record(share=True, share_code=CODE)
    await contested.write_many(put=[shared])
    off = asyncio.Event()

    async def poll_link() -> list[tuple[bool, bool]]:
        """Whether the link was disabled before the read began, and whether the code still opened the record."""
        observations = []
        for _ in range(10):
            before = off.is_set()
            observations.append((before, await shared_record(contested, CODE) is not None))
        return observations

    async def disable_link() -> None:
        try:
            await contested.write(unshare_record(shared))
        except ResultUnknown:
            while (await contested.get(design.record(ME, kid(0)))).share:
                await race(contested.write(unshare_record(shared)))
        off.set()

    polls = await asyncio.gather(*(poll_link() for _ in range(5)), disable_link())
    assert not any(before and opened for observations in polls[:-1] for before, opened in observations)
    assert await shared_record(contested, CODE) is None


async def test_of_two_new_codes_one_is_stored(contested: Store):
    await contested.write_many(put=[a_record()])
    codes = [ShareCode(f"{at}kihofkwif4tF") for at in range(6)]
    result = await race(*(contested.write(share_record(a_record(), code)) for code in codes))
    assert result.allows(1)
    stored = await contested.get(design.record(ME, kid(0)))
    assert stored == replace(a_record(), share=True, share_code=stored.share_code)
    assert stored.share_code in codes


async def test_of_a_new_code_and_unsharing_one_wins(contested: Store):
    shared = a_record(share=True, share_code=CODE)
    await contested.write_many(put=[shared])
    new = ShareCode("Nkihofkwif4tF")
    result = await race(
        *(contested.write(unshare_record(shared)) for _ in range(2)), contested.write(share_record(shared, new))
    )
    assert result.allows(1)
    stored = await contested.get(design.record(ME, kid(0)))
    assert stored in (a_record(), replace(shared, share_code=new))
    if result.won:
        assert result.won == [stored]
    assert await shared_record(contested, CODE) is None


async def test_hosts_who_set_different_caps_at_once_both_succeed(contested: Store):
    await create_users(contested)
    result = await race(contested.write(set_kifu_cap(ME, 7)), contested.write(set_tag_cap(ME, 8)))
    assert result.refused == []
    user = await settings(contested)
    assert (user.kifu_max in (7, None), user.tag_max in (8, None)) == (True, True)
    if not result.unknown:
        assert (user.kifu_max, user.tag_max) == (7, 8)
