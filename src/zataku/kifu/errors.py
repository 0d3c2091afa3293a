"""What the record library refuses before it asks the store."""

from typing import ClassVar


class KifuError(Exception):
    """The root of all refusals of the record library. Nothing was written."""

    code: ClassVar[str] = "kifu_error"


class LibraryFull(KifuError):
    """The user has as many records as allowed."""

    code = "library_full"


class TagsFull(KifuError):
    """The user has as many tags as allowed."""

    code = "tags_full"


class NotYours(KifuError):
    """The record, tag or analysis belongs to somebody else."""

    code = "not_yours"


class UnfitChange(KifuError):
    """The change is not one that this write makes."""

    code = "unfit_change"


class TooManyAtOnce(KifuError):
    """More items than one transaction takes."""

    code = "too_many_at_once"
