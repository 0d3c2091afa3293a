"""Passwords: what one must be, and how it is kept so that a stolen table does not give it away.

Argon2id with the parameters that RFC 9106 recommends where memory is scarce: 64 MiB, three passes, four lanes. Checking
one takes a few tenths of a second on purpose, in threads of its own, so that nobody else waits for it.
"""

import asyncio
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from zataku.accounts.secrets import Secret
from zataku.errors import InvalidRequest, Unavailable
from zataku.text import fold

SHORTEST, LONGEST = 8, 200
# Each takes 64 MiB while it works; who waits longer than a queue of this length should come back.
THREADS = 2
MOST_WAITING = 40

STRONG = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
T = TypeVar("T")


class Passwords:
    """Hashes passwords and checks them."""

    def __init__(self, hasher: PasswordHasher = STRONG, *, threads: int = THREADS, waiting: int = MOST_WAITING) -> None:
        self._hasher = hasher
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="passwords")
        self._most = threads + waiting
        self._under_way = 0
        self._nobodys: str | None = None

    async def hashed(self, password: Secret) -> str:
        """The text that is kept of a password."""
        return await self._run(lambda: self._hasher.hash(_bytes(password)))

    async def matches(self, kept: str | None, password: Secret) -> bool:
        """True when the password is the one that was kept.

        With nothing kept it takes as long and is false, so that nobody learns from the time which names there are.
        """
        return await self._run(lambda: self._verified(kept, password))

    def outdated(self, kept: str) -> bool:
        """True when a password was kept with other parameters than today's."""
        return self._hasher.check_needs_rehash(kept)

    def close(self) -> None:
        """Let the threads go; what was begun is finished."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T]) -> T:
        if self._under_way >= self._most:
            raise Unavailable("Too many people sign in right now. Try again in a moment.", code="busy")
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._under_way -= 1

    def _verified(self, kept: str | None, password: Secret) -> bool:
        if self._nobodys is None:
            # Nobody knows what it belongs to.
            self._nobodys = self._hasher.hash(Secret.made().revealed())
        try:
            self._hasher.verify(self._nobodys if kept is None else kept, _bytes(password))
        except (VerificationError, InvalidHashError):
            return False
        return kept is not None


def _bytes(password: Secret) -> bytes:
    # Half a character has no UTF-8. It is nobody's password, and trying it is no more than wrong.
    return unicodedata.normalize("NFKC", password.revealed()).encode("utf-8", "surrogatepass")


def check_password(password: Secret, name: str | None) -> None:
    """Refuse a new password that is too easy to guess. Characters are counted as they are kept (NFKC)."""
    text = unicodedata.normalize("NFKC", password.revealed())
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidRequest(
            "The password is not in UTF-8. Type it on another keyboard or terminal.", code="bad_password"
        )
    if not SHORTEST <= len(text) <= LONGEST:
        raise InvalidRequest(
            f"A password has {SHORTEST} to {LONGEST} characters. Choose another one.", code="bad_password"
        )
    if name is not None and fold(text) == fold(name):
        raise InvalidRequest("The name is no password. Choose another one.", code="bad_password")
