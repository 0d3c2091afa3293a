"""Passwords: the rules for a new one, and Argon2id hashes, so that a stolen table does not reveal them.

The parameters are those that RFC 9106 recommends where memory is scarce: 64 MiB, three passes, four lanes. A check is
slow by intention, a few tenths of a second, in threads of its own, so that other requests do not wait for it.
"""

import asyncio
import os
import string
import sys
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from zataku.accounts.secrets import Secret
from zataku.errors import InvalidRequest, Unavailable
from zataku.text import fold

SITE_NAME = "zataku"
# Whoever guesses tries these around a name.
_AROUND_NAMES = string.digits + string.punctuation + string.whitespace

MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 8, 200
# Each hash takes 64 MiB while it is computed. Requests beyond the queue are refused.
HASH_THREADS = 2
MAX_QUEUED_HASHES = 40

LOWEST_PRIORITY = 19

DEFAULT_HASHER = PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
T = TypeVar("T")


class Passwords:
    """Hashes passwords and checks them."""

    def __init__(
        self,
        hasher: PasswordHasher = DEFAULT_HASHER,
        *,
        threads: int = HASH_THREADS,
        max_queued: int = MAX_QUEUED_HASHES,
    ) -> None:
        self._hasher = hasher
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="passwords", initializer=_lower_priority)
        self._max_pending = threads + max_queued
        self._pending = 0
        self._dummy_hash: str | None = None

    async def hash(self, password: Secret) -> str:
        """The hash that is stored of a password."""
        return await self._run(lambda: self._hasher.hash(_bytes(password)))

    async def matches(self, stored: str | None, password: Secret) -> bool:
        """True when the password belongs to the stored hash.

        Without a hash it takes as long and is false, so that the time does not reveal which names exist.
        """
        return await self._run(lambda: self._verify(stored, password))

    def is_outdated(self, stored: str) -> bool:
        """True when a hash was made with other parameters than the current ones."""
        return self._hasher.check_needs_rehash(stored)

    def close(self) -> None:
        """Stop the threads; hashes in progress are finished."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T]) -> T:
        if self._pending >= self._max_pending:
            raise Unavailable("It's busy right now. Try again in a moment.", code="busy")
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._pending -= 1

    def _verify(self, stored: str | None, password: Secret) -> bool:
        if self._dummy_hash is None:
            # The hash of a random secret, which no password matches.
            self._dummy_hash = self._hasher.hash(Secret.generate().reveal())
        try:
            self._hasher.verify(self._dummy_hash if stored is None else stored, _bytes(password))
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None


def _lower_priority() -> None:
    """Let the event loop have the processor first. On Linux, this is of the calling thread and those it starts."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, 0, LOWEST_PRIORITY)


def _bytes(password: Secret) -> bytes:
    # Half a surrogate pair has no UTF-8. No stored password has one, so that checking it is simply false.
    return unicodedata.normalize("NFKC", password.reveal()).encode("utf-8", "surrogatepass")


def check_password(password: Secret, name: str | None) -> None:
    """Refuse a new password that is too easy to guess. Characters are counted in NFKC, as they are hashed."""
    text = unicodedata.normalize("NFKC", password.reveal())
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidRequest(
            "The password is not in UTF-8. Type it on another keyboard or terminal.", code="bad_password"
        )
    if not MIN_PASSWORD_LENGTH <= len(text) <= MAX_PASSWORD_LENGTH:
        raise InvalidRequest(
            f"A password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters. Choose another one.",
            code="bad_password",
        )
    if name is not None and fold(text) == fold(name):
        raise InvalidRequest("The password must not be the name. Choose another one.", code="bad_password")
    if _is_common(fold(text), name):
        raise InvalidRequest(
            "That password is too easy to guess. Choose one that few others use, and not a name with digits.",
            code="common_password",
        )


def _is_common(folded: str, name: str | None) -> bool:
    """True for a common password, one character again and again, and a name with nothing but digits or signs around it.

    The name of the site counts as one.
    """
    words, letters = folded.strip(), folded.strip(_AROUND_NAMES)
    names = {SITE_NAME} if name is None else {SITE_NAME, fold(name).strip(_AROUND_NAMES)}
    return words in common_passwords() or len(set(words)) <= 1 or (letters != "" and letters in names)


@cache
def common_passwords() -> frozenset[str]:
    """The passwords that are tried first, as `fold` writes them. The file states its source."""
    lines = files("zataku.accounts").joinpath("common_passwords.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
