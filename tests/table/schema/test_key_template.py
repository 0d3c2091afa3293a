"""Key templates: what they render, refuse and read back."""

from datetime import date
from enum import Enum
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zataku.table import BadKey, DesignError, MissingKeyField, WrongType
from zataku.table.schema.key_template import KeyTemplate


class Side(Enum):
    BLACK = "BLACK"


def test_slots_are_filled_with_fields() -> None:
    key = KeyTemplate("GAME#{game_id}#TURN#{turn:03d}")
    assert key.render({"game_id": "g1", "turn": 7}.get) == "GAME#g1#TURN#007"
    assert key.fields == ("game_id", "turn")
    assert key.prefix == "GAME#"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Side.BLACK, "BLACK"),
        (date(2026, 2, 21), "2026-02-21"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (12, "12"),
        ("社団戦", "社団戦"),
    ],
)
def test_a_slot_takes_text_numbers_dates_ids_and_enums(value: object, text: str) -> None:
    assert KeyTemplate("X#{it}").render({"it": value}.get) == f"X#{text}"


def test_none_leaves_the_item_out_of_the_index() -> None:
    assert KeyTemplate("GAME#STATUS#{status}").render({"status": None}.get) is None


def test_a_key_that_must_be_there_names_the_field_it_lacks() -> None:
    with pytest.raises(MissingKeyField, match=r"needs turn .* Give it a value"):
        KeyTemplate("MOVE#{turn:03d}").require({}.get, "Move")


@pytest.mark.parametrize("turn", [1000, -1])
def test_a_number_that_does_not_fit_its_padding_is_refused(turn: int) -> None:
    with pytest.raises(BadKey, match="would sort wrongly"):
        KeyTemplate("MOVE#{turn:03d}").render({"turn": turn}.get)


@pytest.mark.parametrize("turn", ["7", 7.0, True])
def test_a_padded_slot_takes_nothing_but_an_int(turn: object) -> None:
    with pytest.raises(WrongType):
        KeyTemplate("MOVE#{turn:03d}").render({"turn": turn}.get)


@pytest.mark.parametrize("value", [b"bytes", 1.5, True, ["list"]])
def test_a_slot_refuses_what_has_no_text(value: object) -> None:
    with pytest.raises(WrongType, match="must be a string or int"):
        KeyTemplate("X#{it}").render({"it": value}.get)


def test_an_empty_text_is_no_key() -> None:
    with pytest.raises(BadKey, match="is empty"):
        KeyTemplate("X#{it}").render({"it": ""}.get)


def test_a_value_that_contains_a_separator_is_refused() -> None:
    with pytest.raises(BadKey, match="contains '#TURN#'"):
        KeyTemplate("GAME#{game_id}#TURN#{turn}").render({"game_id": "g1#TURN#9", "turn": 1}.get)


def test_the_last_slot_may_hold_any_text() -> None:
    key = KeyTemplate("slug#{slug}")
    assert key.parse(key.render({"slug": "a#b/c\n#"}.get)) == {"slug": "a#b/c\n#"}


@given(st.text(min_size=1).filter(lambda text: "#" not in text), st.integers(0, 999), st.text(min_size=1))
def test_whatever_is_rendered_reads_back(first: str, turn: int, last: str) -> None:
    key = KeyTemplate("A#{first}#{turn:03d}#{last}")
    text = key.render({"first": first, "turn": turn, "last": last}.get)
    assert key.parse(text) == {"first": first, "turn": f"{turn:03d}", "last": last}


@given(st.integers(0, 999), st.integers(0, 999))
def test_padded_numbers_sort_as_numbers(one: int, other: int) -> None:
    key = KeyTemplate("MOVE#{turn:03d}")
    texts = [key.render({"turn": turn}.get) for turn in (one, other)]
    assert (texts[0] < texts[1]) == (one < other)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("{a}{b}", "side by side"),
        ("{a}#{a}", "twice"),
        ("{a:>5}", "Only padding"),
        ("{a.b}", "one field name"),
        ("{a!r}", "one field name"),
        ("{a", "cannot be read"),
    ],
)
def test_a_template_that_cannot_work_is_refused_when_declared(text: str, why: str) -> None:
    with pytest.raises(DesignError, match=why):
        KeyTemplate(text)


def test_a_key_of_another_shape_does_not_match() -> None:
    key = KeyTemplate("MOVE#{turn:03d}")
    assert key.matches("MOVE#007")
    assert not key.matches("MOVE#7")
    assert not key.matches("GAME#007")
    assert key.parse(b"MOVE#007") is None


def test_a_value_cannot_imitate_the_key_of_another_kind() -> None:
    game, turn = KeyTemplate("GAME#{game_id}"), KeyTemplate("GAME#{game_id}#TURN#{turn:03d}")
    for template in (game, turn):
        template.find_conflicts([game, turn])
    assert game.render({"game_id": "g1"}.get) == "GAME#g1"
    assert game.render({"game_id": "g1#TURN#x"}.get) == "GAME#g1#TURN#x"
    assert turn.render({"game_id": "g1", "turn": 1}.get) == "GAME#g1#TURN#001"
    with pytest.raises(BadKey, match="could pass for a key of"):
        game.render({"game_id": "g1#TURN#001"}.get)
