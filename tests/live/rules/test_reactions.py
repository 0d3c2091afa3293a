"""Reactions are counted by the minute; nothing is lost between minutes, publishing and storing."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.live.entities import ROOM_ID
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.rules.reactions import KINDS, ReactionCounts, count_reaction, load_counts


@given(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.integers(0, 3), st.sampled_from(["", "publish", "store", "reload"])),
        max_size=60,
    )
)
def test_totals_and_stored_minutes_add_up(reactions: list) -> None:
    counts, expected, stored = ReactionCounts(), Counter(), {}
    for kind, minutes, then in reactions:
        counts = count_reaction(counts, ROOM_ID, kind, instant_ms(START + 60 * minutes))
        expected[kind] += 1
        if then == "publish":
            counts = replace(counts, unpublished={})
        if then in {"store", "reload"}:
            stored |= {it.minute: it for it in counts.unstored}
            counts = replace(counts, unstored=())
        if then == "reload":
            counts = load_counts(list(stored.values()))
    published = replace(counts, unpublished={}).published_totals()
    assert published == {kind: expected[kind] for kind in KINDS}
    stored |= {it.minute: it for it in counts.unstored}
    assert sum(it.clap for it in stored.values()) == expected["clap"]
    assert counts.published_totals() == {kind: expected[kind] - counts.unpublished.get(kind, 0) for kind in KINDS}
