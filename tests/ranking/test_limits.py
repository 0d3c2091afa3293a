"""Names, folded names, levels, powers, ranks and identifiers: what is accepted and what is refused."""

from datetime import date
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ranking.players import DAY, a_snapshot, player
from zataku.ranking.design import Day, NameClaim, Profile
from zataku.ranking.limits import FOLDED_NAME_LENGTH, NAME_LENGTH, UserId, fold_name
from zataku.ranking.values import TABLE_NAME, table_name
from zataku.table import BadInput, DesignError, Entity
from zataku.table.schema.entity import binding_of
from zataku.text import is_visible

NAMES = [
    "a",
    "Hello",
    "한월",
    "달빛 여우",
    "月影の侍",
    "Ünïcödé",
    "x" * 30,
    "👨‍👩‍👧",
    "अक्षर",
    "ß",
    "İstanbul",
    "０１２",
]
REFUSED = {
    "nothing": "",
    "31 characters": "x" * 31,
    "a space before": " Hello",
    "a space behind": "Hello ",
    "a wide space behind": "Hello\u3000",
    "a line break": "Hel\nlo",
    "a line break at the end": "Hello\n",
    "a control character": "Hel\x00lo",
    "a zero-width space": "Hel\u200blo",
    "a word joiner": "Hel\u2060lo",
    "text turned round": "Hello\u202eolleH",
    "a byte order mark": "\ufeffHello",
    "a line separator": "Hel\u2028lo",
    "a Hangul filler, the invisible nickname": "\u3164",
    "a half-width filler": "a\uffa0b",
    "joiners alone": "\u200d\u200d",
    "half a surrogate pair": "\ud800",
}
FOLDED = {
    "Hello": "hello",
    "HELLO": "hello",
    "Ｈｅｌｌｏ": "hello",
    "Straße": "strasse",
    "İstanbul": "i̇stanbul",
    "ΣΊΣΥΦΟΣ": "σίσυφοσ",
    "ﾊﾝｳｫﾙ": "ハンウォル",
    "\u1112\u1161\u11ab\u110b\u116f\u11af": "한월",
    "한월": "한월",
    "①": "1",
    "ﬁn": "fin",
    "K": "k",
    "Hel\u200dlo": "hello",
    "Hello\ufe0f": "hello",
    "\U000e0100a": "a",
    "می\u200cخواهم": "میخواهم",
    "👨‍👩‍👧": "👨👩👧",
    "e\u200d\u0301": "é",
    "a\uffa0": "a",
}


def stored(entity: Entity) -> dict[str, object]:
    """The item as it is stored."""
    return binding_of(type(entity)).encode(entity)


@pytest.mark.parametrize("name", NAMES)
def test_a_visible_name_is_accepted(name: str):
    assert player("A101", name).name == name


@pytest.mark.parametrize("name", REFUSED.values(), ids=REFUSED)
def test_a_name_with_invisible_characters_or_outer_spaces_is_refused(name: str):
    with pytest.raises((BadInput, ValueError)):
        stored(player("A101", name))


def test_a_bad_name_is_refused_on_reading_too():
    item = binding_of(Profile).encode(player("A101", "Hello")) | {"Name": "Hel\u200blo"}
    with pytest.raises(Exception, match="invisible character U\\+200B"):
        binding_of(Profile).decode(item)


@pytest.mark.parametrize(("name", "lower"), FOLDED.items())
def test_spellings_of_a_name_fold_to_the_same(name: str, lower: str):
    assert fold_name(name) == lower


def test_every_folded_name_fits_its_key_and_keeps_a_visible_character():
    # Beyond U+30000 there are only ideographs, which fold to themselves, and variation selectors.
    codes = (*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE0200))
    letters = list(map(chr, codes))
    folded = [fold_name(letter) for letter in letters]
    assert not any(is_visible(letter) for letter, lower in zip(letters, folded, strict=True) if not lower)
    assert max(map(len, folded)) * NAME_LENGTH == FOLDED_NAME_LENGTH
    assert len("NAME#") + max(len(text.encode()) for text in folded) * NAME_LENGTH == 995


@given(st.text(st.characters() | st.sampled_from("\u200d\ufe0f\u1160\uffa0\u0301ei\u1100\u1161"), max_size=30))
def test_folding_twice_is_folding_once(name: str):
    assert fold_name(fold_name(name)) == fold_name(name)


def test_the_longest_folded_name_fits_a_claim():
    claim = NameClaim(name_lower=fold_name("\ufdfa" * 30), holder=UserId("A101"), claimed_at="2026-02-21T03:00:00Z")
    assert len(claim.name_lower) == FOLDED_NAME_LENGTH
    binding_of(NameClaim).encode(claim)


@pytest.mark.parametrize("level", ["0", "57.25", "0.0001", "999999.9999", "1000000"])
def test_a_level_with_decimals_is_accepted(level: str):
    assert a_snapshot("A101", level).level == Decimal(level)


@pytest.mark.parametrize("level", ["-1", "-0.0001", "1000000.0001", "57.00001", "NaN", "Infinity"])
def test_a_level_outside_the_limits_is_refused(level: str):
    with pytest.raises(ValueError, match="A level"):
        a_snapshot("A101", level)


@pytest.mark.parametrize("power", ["0", "123456789012345.6789", "1E+15"])
def test_a_power_is_stored_to_the_last_digit(power: str):
    snapshot = a_snapshot("A101", "1", power)
    encoded = binding_of(type(snapshot)).encode(snapshot)
    assert encoded["Power"] == Decimal(power)
    assert binding_of(type(snapshot)).decode(encoded) == snapshot


@pytest.mark.parametrize("power", ["-1", "1000000000000000.0001", "0.00001", "sNaN"])
def test_a_power_outside_the_limits_is_refused(power: str):
    with pytest.raises(ValueError, match="A power"):
        a_snapshot("A101", "1", power)


@pytest.mark.parametrize("rank", [1, 100])
def test_official_ranks_go_from_one_to_a_hundred(rank: int):
    stored(a_snapshot("A101", "1", level_rank=rank, power_rank=rank))


@pytest.mark.parametrize("rank", [0, 101, -1])
def test_any_other_official_rank_is_refused(rank: int):
    with pytest.raises(BadInput, match="level_rank|Level_Rank"):
        stored(a_snapshot("A101", "1", level_rank=rank))


@pytest.mark.parametrize("user_id", ["A101", "456e7890-e89b-12d3-a456-426614174001", "x" * 64, "_-"])
def test_an_identifier_of_the_game_is_accepted(user_id: str):
    stored(a_snapshot(user_id, "1", name="Hello"))


@pytest.mark.parametrize("user_id", ["", "x" * 65, "A 101", "A#101", "A101\n", "한월"])
def test_an_identifier_with_other_characters_is_refused(user_id: str):
    with pytest.raises(BadInput):
        stored(a_snapshot(user_id, "1", name="Hello"))


@pytest.mark.parametrize(
    "moment", ["2026-02-21", "2026-02-21T03:00:00", "2026-02-21T24:00:00Z", "2026-02-21T03:00:00Z\n"]
)
def test_a_moment_is_in_seconds_and_utc(moment: str):
    with pytest.raises(BadInput):
        stored(Day(date=DAY, players=1, as_of=moment, published_at="2026-02-21T15:10:00Z"))


def test_a_closing_state_is_complete_and_not_of_a_later_day():
    closing = {"closing_name": "Hello", "closing_level": Decimal(1), "closing_power": Decimal(2)}
    assert player("A101", "Hello", current_day=DAY, closing_day=date(2026, 2, 20), **closing).closing_level == 1
    nameless = {"closing_day": date(2026, 2, 20), **closing, "closing_name": None}
    assert player("A101", "Hello", current_day=DAY, **nameless).closing_power == 2
    for fields in (
        {"closing_day": DAY},
        {**closing},
        {"closing_day": date(2026, 2, 22), **closing},
        {"closing_day": date(2026, 2, 20), **closing, "closing_name": "\u200b"},
        {"closing_day": date(2026, 2, 20), **closing, "closing_level": Decimal(-1)},
    ):
        with pytest.raises(ValueError, match="closing state|invisible character|A level"):
            player("A101", "Hello", current_day=DAY, **fields)


def test_the_table_has_the_name_of_the_document_unless_one_is_configured():
    assert table_name({}) == table_name({"ZATAKU_RANKING_TABLE": ""}) == TABLE_NAME == "Hanwol_Bot_DEV_Single_Table"
    assert table_name({"ZATAKU_RANKING_TABLE": "My.Rankings-1"}) == "My.Rankings-1"
    assert table_name({"ZATAKU_RANKING_TABLE": "x" * 200}) == "x" * 200


@pytest.mark.parametrize("name", ["ab", "x" * 201, "a b c", "순위표", "abc\n"])
def test_an_invalid_table_name_is_refused(name: str):
    with pytest.raises(DesignError, match="ZATAKU_RANKING_TABLE is"):
        table_name({"ZATAKU_RANKING_TABLE": name})


def test_replaced_fields_are_checked():
    with pytest.raises(ValueError, match="A name"):
        msgspec.structs.replace(player("A101", "Hello"), name=" Hello")
