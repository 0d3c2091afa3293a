"""Errors of the record library's rules, raised before anything is written."""

from typing import ClassVar


class KifuError(Exception):
    """Base of the library's errors."""

    code: ClassVar[str] = "kifu_error"


class LibraryFull(KifuError):
    """The user has as many records as allowed."""

    code = "library_full"


class TagsFull(KifuError):
    """The user has as many tags as allowed."""

    code = "tags_full"


class NotOwner(KifuError):
    """The record, tag or analysis belongs to another user."""

    code = "not_yours"


class InvalidChange(KifuError):
    """The change is not one that this write carries out."""

    code = "unfit_change"


class TooManyItems(KifuError):
    """More items than fit in one transaction."""

    code = "too_many_at_once"
