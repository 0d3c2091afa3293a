"""The language that a page is shown in."""

from typing import get_args

from zataku.platform.limits import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)
DEFAULT_LANGUAGE: Language = "en"


def parse_language(tag: str | None) -> Language | None:
    """The language of a tag such as `ja` or `ko-KR`; None for one that the pages do not have."""
    primary = (tag or "").strip().lower().split("-")[0]
    return next((language for language in LANGUAGES if language == primary), None)


def choose_language(requested: str | None, accept_language: str | None) -> Language:
    """The requested language, else the one that the browser prefers, else English."""
    return parse_language(requested) or _preferred(accept_language or "") or DEFAULT_LANGUAGE


def _preferred(accept_language: str) -> Language | None:
    best: Language | None = None
    best_weight = 0.0
    for entry in accept_language.split(","):
        tag, _, parameter = entry.partition(";")
        language, weight = parse_language(tag), _weight(parameter)
        # Strictly more: of equal weights, the one that the browser lists first.
        if language is not None and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weight(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
