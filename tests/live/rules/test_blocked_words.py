"""Blocked words are found however they are written, and no comment makes the search costly."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zataku.live.limits import fold_word
from zataku.live.rules.blocked_words import contains_blocked_word, match_form

MAX_LENGTH = 500
MARKS = "".join(chr(code) for code in range(0x300, 0x370) if unicodedata.combining(chr(code)))


def blocked(*words: str) -> frozenset[str]:
    return frozenset(map(fold_word, words))


@pytest.mark.parametrize(
    "text",
    [
        "so much spam here",
        "ＳＰＡＭ",
        "sp\u200bam",
        "sPaM!",
        "\ufdfa" * 400 + "spam",
        "㌖" * 400 + "spam",
        "!" * 400 + "spam",
        "a" + "\u0334\u0301" * 200 + "spam",
    ],
)
def test_a_word_is_found_in_every_form_and_behind_everything(text: str):
    assert contains_blocked_word(blocked("spam", "eggs"), "fine", text)


def test_a_symbol_is_found_behind_many_others():
    assert contains_blocked_word(blocked("💩"), "!" * 400 + "💩")


def test_words_of_one_character_are_found():
    assert contains_blocked_word(blocked("死"), "ぜったい死守")
    assert not contains_blocked_word(blocked("死"), "生きる")


@pytest.mark.parametrize("phrase", ["\ufdfa", "صلى الله عليه وسلم"])
def test_a_ligature_and_its_letters_are_the_same_word(phrase: str):
    assert contains_blocked_word(blocked(phrase), "\ufdfa")
    assert contains_blocked_word(blocked(phrase), "صلى الله عليه وسلم")


@pytest.mark.parametrize("words", [frozenset[str](), blocked("\u0301"), blocked("spam")])
def test_other_texts_are_accepted(words: frozenset[str]):
    assert not contains_blocked_word(words, "", "a fine talk", "\u0301", "span", "s p a m")


@pytest.mark.parametrize("character", ["\ufdfa", "\ufdfb", "\u3316", "\u33af", "\U0001d160", "ﬃ", "ß", "あ"])
def test_no_character_makes_a_comment_more_than_four_times_as_long(character: str):
    assert len(match_form(character * MAX_LENGTH)) <= 4 * MAX_LENGTH


def test_marks_beyond_any_letter_of_a_language_are_left_out(monkeypatch: pytest.MonkeyPatch):
    folded: list[str] = []
    monkeypatch.setattr("zataku.live.rules.blocked_words.fold_word", lambda text: folded.append(text) or text)
    match_form("a" + (MARKS * MAX_LENGTH)[: MAX_LENGTH - 1])
    assert len(folded[0]) == 17


class CountedText(str):  # noqa: SLOT000 - it has the attributes of its class alone
    """A text that counts the parts that are taken of it, and searches, whose time grows with the word's length, too."""

    parts = searches = 0

    def __getitem__(self, key: Any) -> str:
        CountedText.parts += 1
        return super().__getitem__(key)

    def __contains__(self, _word: object) -> bool:
        CountedText.searches += 1
        return False


def test_no_word_is_compared_at_every_place_of_a_text(monkeypatch: pytest.MonkeyPatch):
    words = [f"{'a' * 21}{number:08b}{'a' * 21}".replace("0", "a").replace("1", "b") for number in range(1, 201)]
    assert not contains_blocked_word(frozenset(words), "a" * MAX_LENGTH)
    assert contains_blocked_word(frozenset(words), "a" * MAX_LENGTH + words[7] + "a" * MAX_LENGTH)
    monkeypatch.setattr("zataku.live.rules.blocked_words.match_form", CountedText)
    assert not contains_blocked_word(frozenset(words), "a" * MAX_LENGTH)
    assert CountedText.searches == 0
    assert CountedText.parts <= MAX_LENGTH


@pytest.mark.parametrize("word", ["a.c", "(x", "[", "$", "\\d", "a|b", "^", "*"])
def test_signs_in_a_word_mean_themselves(word: str):
    assert contains_blocked_word(blocked(word), f"so {word} it is")
    assert not contains_blocked_word(blocked(word), "abc x 1")


# Only the first ligatures of a text count.
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["So"], exclude_characters="\ufdfa\ufdfb"), max_size=9)


@given(st.text(st.characters(codec="utf-8"), max_size=MAX_LENGTH), WORDS)
def test_a_word_is_found_in_every_text_that_contains_it(text: str, word: str):
    form = match_form(word)
    if form and form in match_form(text):
        assert contains_blocked_word(blocked(word), text)
    if form and form[0].isalnum() and form[-1].isalnum():
        assert contains_blocked_word(blocked(word), f"{text} {word} {text}"[: 2 * MAX_LENGTH])


@given(st.frozensets(st.text("ab", min_size=1, max_size=20), max_size=20), st.text("ab", max_size=60))
def test_of_many_similar_words_just_those_in_the_text_are_found(words: frozenset[str], text: str):
    assert contains_blocked_word(words, text) == any(word in text for word in words)
