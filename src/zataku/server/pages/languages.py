"""Which of the three languages a page is shown in."""

from typing import Literal, get_args

Language = Literal["ja", "ko", "en"]

LANGUAGES: tuple[Language, ...] = get_args(Language)
FALLBACK: Language = "en"


def spoken(tag: str | None) -> Language | None:
    """The language of a tag such as `ja` or `ko-KR`, if it is one of ours."""
    primary = (tag or "").strip().lower().split("-")[0]
    return next((language for language in LANGUAGES if language == primary), None)


def chosen(asked: str | None, accept_language: str | None) -> Language:
    """The language somebody asked for by name, else the one their browser likes best, else English."""
    return spoken(asked) or _liked_best(accept_language or "") or FALLBACK


def _liked_best(accept_language: str) -> Language | None:
    best: Language | None = None
    best_weight = 0.0
    for entry in accept_language.split(","):
        tag, _, parameter = entry.partition(";")
        language, weight = spoken(tag), _weight(parameter)
        # Strictly more: of equals, the one the browser wrote first.
        if language is not None and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weight(parameter: str) -> float:
    name, _, figure = parameter.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(figure)
    except ValueError:
        return 0.0
