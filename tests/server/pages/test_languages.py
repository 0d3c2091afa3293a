"""People are spoken to in the language they ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zataku.server.pages.languages import LANGUAGES, chosen
from zataku.server.pages.page_routes import words


@pytest.mark.parametrize(
    ("accept", "spoken"),
    [
        ("ja", "ja"),
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("fr-FR, en;q=0.3, ja;q=0.7", "ja"),
        ("JA-jp", "ja"),
        ("de, fr;q=0.5", "en"),
        ("ja;q=0, ko;q=0.1", "ko"),
        ("ja;q=nonsense, ko", "ko"),
        ("", "en"),
        (None, "en"),
    ],
)
def test_a_browser_gets_the_language_it_likes_best(accept: str | None, spoken: str):
    assert chosen(None, accept) == spoken


def test_asking_by_name_wins_over_the_browser():
    assert chosen("ko", "ja") == "ko"


def test_an_unknown_name_leaves_the_choice_to_the_browser():
    assert chosen("tlh", "ja") == "ja"


@given(st.text(), st.text())
def test_no_header_however_odd_leaves_us_speechless(asked: str, accept: str):
    assert chosen(asked, accept) in LANGUAGES


def test_the_three_languages_say_the_same_things():
    assert words("ja").keys() == words("ko").keys() == words("en").keys()
    assert all(sentence.strip() for language in LANGUAGES for sentence in words(language).values())
