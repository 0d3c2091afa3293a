"""Nicknames: which ones a room accepts, so that nobody passes for its host, and the numbers of those without one."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from zataku.live.errors import name_of_host, name_reserved
from zataku.live.limits import ANONYMOUS, MAX_HOST_NAMES, SenderId
from zataku.reserved_names import has_title, is_reserved, passes_for

_is_reserved = lru_cache(4096)(is_reserved)
_has_title = lru_cache(4096)(has_title)
_passes_for = lru_cache(4096)(passes_for)


class AnonymousSenders(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of the senders without a nickname, and the last number that was given."""

    numbers: Mapping[SenderId, int] = {}
    last: int = 0

    def with_numbers(self, given: Mapping[SenderId, int]) -> "AnonymousSenders":
        """The numbers after further ones were given."""
        return AnonymousSenders(numbers={**self.numbers, **given}, last=max(self.last, 0, *given.values()))

    def without(self, sender: SenderId) -> "AnonymousSenders":
        """The numbers without a removed account. Its number is not given again."""
        others = {it: number for it, number in self.numbers.items() if it != sender}
        return msgspec.structs.replace(self, numbers=others)


def check_nickname(nickname: str, host_names: Sequence[str]) -> None:
    """Raise the error for which somebody other than the host may not have a nickname."""
    if nickname == ANONYMOUS:
        return
    if _passes_for(nickname, tuple(host_names)):
        raise name_of_host()
    if _is_reserved(nickname) or _has_title(nickname):
        raise name_reserved()


def add_host_names(known: tuple[str, ...], used: Iterable[str | None]) -> tuple[str, ...]:
    """The names of the host after some were used, the latest last."""
    names = dict.fromkeys(known)
    for name in used:
        if name is not None and name != ANONYMOUS and name not in names:
            names[name] = None
    return tuple(names)[-MAX_HOST_NAMES:]
