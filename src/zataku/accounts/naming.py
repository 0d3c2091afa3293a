"""Names as people type them, made fit to be claimed, or refused with what to do."""

import unicodedata

from zataku.errors import InvalidRequest
from zataku.platform.names import check_name

SHORTEST, LONGEST = 2, 20


def fit_name(typed: str) -> str:
    """The name in plain characters without spaces at its ends; one that others could not read is refused."""
    name = unicodedata.normalize("NFKC", typed).strip()
    if not SHORTEST <= len(name) <= LONGEST:
        raise InvalidRequest(f"A name has {SHORTEST} to {LONGEST} characters. Choose another one.", code="bad_name")
    try:
        check_name(name)
    except ValueError as problem:
        raise InvalidRequest(f"{problem} Choose another name.", code="bad_name") from None
    return name
