"""Key templates: the keys they render and parse, and the values they refuse."""

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


def test_a_template_renders_fields_into_its_slots() -> None:
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
def test_a_slot_renders_text_numbers_dates_uuids_and_enums(value: object, text: str) -> None:
    assert KeyTemplate("X#{field}").render({"field": value}.get) == f"X#{text}"


def test_a_key_with_a_missing_field_renders_as_none() -> None:
    assert KeyTemplate("GAME#STATUS#{status}").render({"status": None}.get) is None


def test_a_required_key_names_its_missing_field() -> None:
    with pytest.raises(MissingKeyField, match=r"needs turn .* Give it a value"):
        KeyTemplate("MOVE#{turn:03d}").require({}.get, "Move")


@pytest.mark.parametrize("turn", [1000, -1])
def test_a_number_wider_than_its_padding_is_refused(turn: int) -> None:
    with pytest.raises(BadKey, match="would sort wrongly"):
        KeyTemplate("MOVE#{turn:03d}").render({"turn": turn}.get)


@pytest.mark.parametrize("turn", ["7", 7.0, True])
def test_a_padded_slot_refuses_anything_but_an_int(turn: object) -> None:
    with pytest.raises(WrongType):
        KeyTemplate("MOVE#{turn:03d}").render({"turn": turn}.get)


@pytest.mark.parametrize("value", [b"bytes", 1.5, True, ["list"]])
def test_a_slot_refuses_values_without_a_text_form(value: object) -> None:
    with pytest.raises(WrongType, match="must be a string or int"):
        KeyTemplate("X#{field}").render({"field": value}.get)


def test_an_empty_text_in_a_slot_is_refused() -> None:
    with pytest.raises(BadKey, match="is empty"):
        KeyTemplate("X#{field}").render({"field": ""}.get)


def test_a_value_that_contains_a_separator_is_refused() -> None:
    with pytest.raises(BadKey, match="contains '#TURN#'"):
        KeyTemplate("GAME#{game_id}#TURN#{turn}").render({"game_id": "g1#TURN#9", "turn": 1}.get)


def test_the_last_slot_accepts_any_text() -> None:
    key = KeyTemplate("slug#{slug}")
    assert key.parse(key.render({"slug": "a#b/c\n#"}.get)) == {"slug": "a#b/c\n#"}


@given(st.text(min_size=1).filter(lambda text: "#" not in text), st.integers(0, 999), st.text(min_size=1))
def test_parsing_a_rendered_key_returns_its_fields(first: str, turn: int, last: str) -> None:
    key = KeyTemplate("A#{first}#{turn:03d}#{last}")
    text = key.render({"first": first, "turn": turn, "last": last}.get)
    assert key.parse(text) == {"first": first, "turn": f"{turn:03d}", "last": last}


@given(st.integers(0, 999), st.integers(0, 999))
def test_padded_numbers_sort_as_numbers(first: int, second: int) -> None:
    key = KeyTemplate("MOVE#{turn:03d}")
    texts = [key.render({"turn": turn}.get) for turn in (first, second)]
    assert (texts[0] < texts[1]) == (first < second)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_an_invalid_template_is_refused_when_declared(text: str, message: str) -> None:
    with pytest.raises(DesignError, match=message):
        KeyTemplate(text)


def test_a_key_of_another_template_does_not_match() -> None:
    key = KeyTemplate("MOVE#{turn:03d}")
    assert key.matches("MOVE#007")
    assert not key.matches("MOVE#7")
    assert not key.matches("GAME#007")
    assert key.parse(b"MOVE#007") is None


def test_a_value_that_renders_a_key_of_another_entity_is_refused() -> None:
    game, turn = KeyTemplate("GAME#{game_id}"), KeyTemplate("GAME#{game_id}#TURN#{turn:03d}")
    for template in (game, turn):
        template.find_conflicts([game, turn])
    assert game.render({"game_id": "g1"}.get) == "GAME#g1"
    assert game.render({"game_id": "g1#TURN#x"}.get) == "GAME#g1#TURN#x"
    assert turn.render({"game_id": "g1", "turn": 1}.get) == "GAME#g1#TURN#001"
    with pytest.raises(BadKey, match="could pass for a key of"):
        game.render({"game_id": "g1#TURN#001"}.get)
