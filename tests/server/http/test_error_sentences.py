"""One wording for each error: the English sentence of the server is the one that the pages show."""

import ast
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.manual_clock import ManualClock
from zataku.accounts.rate_limits import RateLimit, RateLimits
from zataku.errors import OUTCOME_UNKNOWN, RateLimited, RequestError
from zataku.server.http.errors import STATUS_ERRORS, VALIDATION_ERROR

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "src" / "zataku"
TEXTS = ROOT / "web" / "src" / "texts" / "en"


def error_classes(base: type[RequestError] = RequestError) -> Iterator[type[RequestError]]:
    """A class of errors and all of its subclasses."""
    yield base
    for subclass in base.__subclasses__():
        yield from error_classes(subclass)


def default_codes() -> dict[str, str]:
    """The default code of each class of errors by its name."""
    return {error.__name__: error.default_code for error in error_classes()}


@cache
def server_sentences() -> dict[str, set[str]]:
    """The fixed sentences of each error code in the source: those that are string literals."""
    codes = default_codes()
    sentences: defaultdict[str, set[str]] = defaultdict(set)
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in codes:
                continue
            match node.args:
                case [ast.Constant(value=str(sentence)), *_]:
                    values = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
                    code = values[0].value if values and isinstance(values[0], ast.Constant) else codes[node.func.id]
                    sentences[str(code)].add(sentence)
    return dict(sentences)


def page_sentences() -> dict[str, str]:
    """The sentence of each error code on the pages, without those that have a number in them."""
    texts = json.loads((TEXTS / "errors.json").read_text(encoding="utf-8"))
    return {name.removeprefix("errors."): text for name, text in texts.items() if isinstance(text, str)}


SEVERAL_SITUATIONS = {"bad_password", "busy", "wrong_password"}
"""Codes that the server responds with in several situations, each with a sentence of its own."""
# The default codes of classes are used in many situations, too.
SPECIFIC = sorted(
    page_sentences().keys() & server_sentences().keys() - set(default_codes().values()) - SEVERAL_SITUATIONS
)


@pytest.mark.parametrize("code", SPECIFIC)
def test_a_specific_error_has_the_sentence_of_the_pages(code: str) -> None:
    assert server_sentences()[code] == {page_sentences()[code]}


def test_a_code_with_several_sentences_is_listed() -> None:
    assert len(SPECIFIC) > 5
    assert all(len(server_sentences()[code]) > 1 for code in SEVERAL_SITUATIONS)


def test_the_error_of_a_status_has_the_sentence_of_the_pages() -> None:
    pages = page_sentences()
    for code, sentence in (*STATUS_ERRORS.values(), VALIDATION_ERROR):
        assert pages.get(code, sentence) == sentence


def test_an_unknown_outcome_has_one_sentence() -> None:
    assert page_sentences()["unsettled"] == OUTCOME_UNKNOWN


@pytest.mark.parametrize(("seconds", "form"), [(1, "one"), (30, "other")])
def test_a_rate_limit_has_the_sentence_of_the_pages(seconds: int, form: str) -> None:
    rate_limits = RateLimits(ManualClock(0.0), {"write": RateLimit(1, float(seconds), 1)})
    rate_limits.consume("write", "caller")
    with pytest.raises(RateLimited) as error:
        rate_limits.consume("write", "caller")
    forms = json.loads((TEXTS / "errors.json").read_text(encoding="utf-8"))["errors.too_many_requests"]
    assert error.value.message == forms[form].format(n=seconds)
