"""Visible characters, characters that are not allowed in a line, and folding."""

import sys
import unicodedata

import pytest

from zataku.text import fold, is_blank, is_disallowed, is_visible


@pytest.mark.parametrize("text", ["a", "한", "は", "花", "!", "1", "👨‍👩‍👧", "❤️", "अ", "e\u0301", " x ", "\u0378"])
def test_text_with_a_visible_character_is_not_blank(text: str):
    assert not is_blank(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\u3000\t", "\u200b\u200d", "\u115f\u1160", "\u3164", "\uffa0", "\u2800", "\ufe0f", "\u0301", "\u202e"],
)
def test_text_without_a_visible_character_is_blank(text: str):
    assert is_blank(text)


@pytest.mark.parametrize(
    "character",
    ["\n", "\r", "\0", "\x7f", "\x85", "\u2028", "\u202e", "\u2066", "\u200b", "\u200e", "\ufeff", "\ud800"],
)
def test_control_and_direction_characters_are_disallowed(character: str):
    assert is_disallowed(character)


@pytest.mark.parametrize("character", ["a", " ", "\u3000", "\u200c", "\u200d", "\ufe0f", "👍", "\u0301", "\u0378"])
def test_printable_and_joining_characters_are_allowed(character: str):
    assert not is_disallowed(character)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Hello", "hello"),
        ("ＨＥＬＬＯ", "hello"),
        ("ﾊﾅ", "ハナ"),
        ("한월", "\u1112\u1161\u11ab\u110b\u116f\u11af"),
        ("Straße", "STRASSE"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("①", "1"),
    ],
)
def test_folding_ignores_case_width_and_composition(text: str, same: str):
    assert fold(text) == fold(same)


@pytest.mark.parametrize(("one", "other"), [("はな", "ハナ"), ("hana", "花"), ("e", "é"), ("a b", "ab")])
def test_folding_keeps_different_texts_apart(one: str, other: str):
    assert fold(one) != fold(other)


def test_folding_twice_changes_nothing():
    letters = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in ("Cn", "Co")]
    assert [letter for letter in letters if fold(fold(letter)) != fold(letter)] == []


def test_every_letter_and_number_but_the_fillers_is_visible():
    kinds = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"}
    letters = (chr(code) for code in range(sys.maxunicode + 1))
    invisible = [letter for letter in letters if unicodedata.category(letter) in kinds and not is_visible(letter)]
    assert invisible == ["\u115f", "\u1160", "\u3164", "\uffa0"]
