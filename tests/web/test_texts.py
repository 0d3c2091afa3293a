"""The texts of the pages: complete in every language, and none is missing or unused."""

import json
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from zataku.errors import InvalidRequest
from zataku.platform.names import MAX_NAME_LENGTH, MIN_NAME_LENGTH, normalize_name

SRC = Path(__file__).parents[2] / "web" / "src"
LANGUAGES = ("ja", "ko", "en")
FILES = sorted(path.name for path in (SRC / "texts" / "en").glob("*.json"))
PLURALS = {"ja": {"other"}, "ko": {"other"}, "en": {"one", "other"}}
"""The plural forms that a language has for whole numbers."""

# A used key is quoted, in t('…') or in a table of keys; one that depends on a value is written `part.${…}` and stands
# for all keys that begin and end like that. Style blocks have no keys.
_STYLE = re.compile(r"<style>.*</style>", re.DOTALL)
_QUOTED = re.compile(r"""(['"`])([A-Za-z]\w*(?:\.\w+)+)\1""")
_BUILT = re.compile(r"`([A-Za-z]\w*\.(?:\w+\.)*)\$\{[^}`]*\}(\w*(?:\.\w+)*)`")
_REQUESTED = re.compile(r"""\b(?:t|has)\(\s*(['"])([^'"]+)\1""")
_VALUE = re.compile(r"\{(\w+)\}")


def load_file(language: str, file: str) -> dict[str, str | dict[str, str]]:
    """One file of texts; a duplicate key is an error."""

    def reject_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), f"{language}/{file} has a key twice"
        return dict(pairs)

    return json.loads((SRC / "texts" / language / file).read_text("utf-8"), object_pairs_hook=reject_duplicates)


def load_language(language: str) -> dict[str, str | dict[str, str]]:
    return {key: text for file in FILES for key, text in load_file(language, file).items()}


def forms(text: str | dict[str, str]) -> Iterator[str]:
    yield from (text.values() if isinstance(text, dict) else [text])


def sources() -> Iterator[tuple[Path, str]]:
    for path in sorted([*SRC.rglob("*.svelte"), *SRC.rglob("*.ts")]):
        if not path.name.endswith(".test.ts"):
            yield path, _STYLE.sub("", path.read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_files(language: str) -> None:
    assert sorted(path.name for path in (SRC / "texts" / language).iterdir()) == FILES


@pytest.mark.parametrize("file", FILES)
def test_every_language_has_the_same_keys(file: str) -> None:
    keys = {language: list(load_file(language, file)) for language in LANGUAGES}
    assert keys["ja"] == keys["en"], "ja and en differ, or their order"
    assert keys["ko"] == keys["en"], "ko and en differ, or their order"


def test_no_key_is_in_two_files() -> None:
    seen: dict[str, str] = {}
    for file in FILES:
        for key in load_file("en", file):
            assert seen.setdefault(key, file) == file, f"{key} is in {seen[key]} and in {file}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty(language: str) -> None:
    assert [key for key, text in load_language(language).items() if not all(form.strip() for form in forms(text))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_plural_texts_have_the_forms_of_their_language(language: str) -> None:
    counted = {key: set(text) for key, text in load_language(language).items() if isinstance(text, dict)}
    assert {key: have for key, have in counted.items() if not {"other"} <= have <= PLURALS[language]} == {}
    english = {key for key, text in load_language("en").items() if isinstance(text, dict)}
    assert set(counted) == english


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_inserts_the_same_values(language: str) -> None:
    """One form may leave a value out ("one room"), but no text has a value that the others lack."""
    english = load_language("en")
    for key, text in load_language(language).items():
        values = {value for form in forms(text) for value in _VALUE.findall(form)}
        expected = {value for form in forms(english[key]) for value in _VALUE.findall(form)}
        assert values == expected, f"{language} {key} has {values}, en has {expected}"


def test_every_requested_text_exists() -> None:
    known = load_language("en")
    missing = [
        f"{path.relative_to(SRC)}: {key}"
        for path, source in sources()
        for _, key in _REQUESTED.findall(source)
        if key not in known
    ]
    assert missing == []


def test_every_composed_key_matches_a_text() -> None:
    known = load_language("en")
    parts = {key.split(".")[0] for key in known}
    for path, source in sources():
        for start, end in _BUILT.findall(source):
            if start.split(".")[0] in parts:
                assert any(key.startswith(start) and key.endswith(end) for key in known), f"{path.name}: {start}…{end}"


def test_every_error_with_a_text_can_happen() -> None:
    """A code comes from the server, or from the pages themselves where there is no response."""
    contents = [path.read_text("utf-8") for path in (SRC.parents[1] / "src" / "zataku").rglob("*.py")]
    contents += [source for _, source in sources()]
    codes = [key.removeprefix("errors.") for key in load_file("en", "errors.json")]
    assert [code for code in codes if not any(f'"{code}"' in text or f"'{code}'" in text for text in contents)] == []


def test_no_text_is_unused() -> None:
    used: set[str] = set()
    built: set[tuple[str, str]] = set()
    for _, source in sources():
        used.update(key for _, key in _QUOTED.findall(source))
        built.update(_BUILT.findall(source))

    def is_built(key: str) -> bool:
        return any(key.startswith(start) and key.endswith(end) and key != start + end for start, end in built)

    assert [key for key in load_language("en") if key not in used and not is_built(key)] == []


SEPARATORS = {
    "en": {" ": "spaces", "-": "hyphens", "_": "underscores", ".": "dots", "・": "dots"},
    "ja": {" ": "空白", "-": "ハイフン", "_": "下線", ".": "点", "・": "点"},
    "ko": {" ": "공백", "-": "하이픈", "_": "밑줄", ".": "점", "・": "점"},
}
"""What a name may have between two letters, in the words of the pages."""


def is_name(typed: str) -> bool:
    try:
        normalize_name(typed)
    except InvalidRequest:
        return False
    return True


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_hint_of_a_name_has_the_rules_that_the_server_checks(language: str) -> None:
    accepted = {sign for sign in (*string.punctuation, " ", "・", "🐈") if is_name(f"ha{sign}na")}
    assert accepted == set(SEPARATORS[language])
    assert not any(is_name(f"ha{sign}{sign}na") or is_name(f"{sign}hana") for sign in accepted - {" "})
    texts = load_language(language)
    for key in ("accounts.nameHint", "errors.bad_name"):
        assert f"{MIN_NAME_LENGTH}" in texts[key]
        assert f"{MAX_NAME_LENGTH}" in texts[key]
        assert all(word in texts[key] for word in SEPARATORS[language].values())
