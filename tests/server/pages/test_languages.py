"""The language of a page, and the texts in all languages."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zataku.server.pages.document import TEXTS, load_texts
from zataku.server.pages.languages import LANGUAGES, choose_language
from zataku.server.systems import SYSTEMS
from zataku.system import System


@pytest.mark.parametrize(
    ("accept", "language"),
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
def test_a_browser_gets_the_language_it_prefers(accept: str | None, language: str):
    assert choose_language(None, accept) == language


def test_the_requested_language_wins_over_the_browser():
    assert choose_language("ko", "ja") == "ko"


def test_an_unknown_language_leaves_the_choice_to_the_browser():
    assert choose_language("tlh", "ja") == "ja"


@given(st.text(), st.text())
def test_any_header_gives_a_supported_language(requested: str, accept: str):
    assert choose_language(requested, accept) in LANGUAGES


@pytest.mark.parametrize("file", [TEXTS, *(system.texts for system in SYSTEMS)], ids=lambda file: file.parent.name)
def test_every_file_of_texts_has_the_same_texts_in_all_languages(file: Path):
    names = [load_texts(file, language).keys() for language in LANGUAGES]
    assert all(keys == names[0] for keys in names)
    assert all(text.strip() for language in LANGUAGES for text in load_texts(file, language).values())


def test_a_text_missing_in_one_language_is_an_error(tmp_path: Path):
    file = tmp_path / "texts.toml"
    file.write_text('[en]\ntitle = "Go"\n[ja]\ntitle = "囲碁"\n[ko]\n')
    with pytest.raises(ValueError, match="the same texts"):
        load_texts(file, "en")


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_system_has_a_title_and_a_sentence_about_it(system: System):
    assert {"title", "about"} <= load_texts(system.texts, "en").keys()
