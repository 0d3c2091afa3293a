"""A reading circle: books get notes on their pages, written by members. The design that docs/table.md explains."""

from typing import Annotated, Literal, NewType

from msgspec import Meta

from zataku.table import (
    NEW_AND_OLD,
    READ,
    READ_WRITE,
    Entity,
    Grant,
    InKey,
    Key,
    Nullable,
    OnDemand,
    PermissionMatrix,
    Span,
    Table,
    View,
    Waiver,
    capacity_alarm,
    error_rate_alarm,
    include,
)

BookId = NewType("BookId", str)
MemberName = NewType("MemberName", str)
Text = Annotated[str, Meta(min_length=1, max_length=2000)]
Title = Annotated[str, Meta(min_length=1, max_length=200)]
Count = Annotated[int, Meta(ge=0)]
Instant = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", max_length=20)]
Shelf = Literal["reading", "done"]

circle = Table(
    "ReadingCircle",
    pk="PK",
    sk="SK",
    ttl="expiresAt",
    stream=NEW_AND_OLD,
    recovery=True,
    capacity=OnDemand(max_reads=500, max_writes=200),
    alarms=[capacity_alarm("read"), error_rate_alarm(percent=5)],
    waivers=[
        Waiver(
            rule="hot-partition",
            subject="Book.GSI2",
            reason="A circle reads a handful of books at a time and lists them often.",
            limit="1,000 changes of shelf a second",
        )
    ],
)
by_writer = circle.index("GSI1", pk="GSI1PK", sk="GSI1SK", projection=include("bookId", "page", "text", "writtenAt"))
by_shelf = circle.index("GSI2", pk="GSI2PK", sk="GSI2SK")


@circle.entity(
    pk="BOOK#{book_id}",
    sk="META",
    index={"GSI2PK": "SHELF#{shelf}", "GSI2SK": "{title}"},
    version="version",
)
class Book(Entity, frozen=True, kw_only=True, rename="camel"):
    """A book that the circle reads or has read."""

    book_id: BookId
    title: Title
    shelf: Shelf | None = None
    closing_words: Nullable[Title] = None
    note_count: Count = 0
    version: int = 1


@circle.entity(
    pk="BOOK#{book_id}",
    sk="NOTE#{page:04d}#{note_id}",
    index={"GSI1PK": "MEMBER#{writer}", "GSI1SK": "{written_at}"},
)
class Note(Entity, frozen=True, kw_only=True, rename="camel"):
    """What a member wrote about a page."""

    book_id: BookId
    page: int
    note_id: InKey[str]
    writer: MemberName
    text: Text
    written_at: Instant
    expires_at: int | None = None


@circle.entity(pk="MEMBER#{name}", sk="MEMBER#{name}")
class Member(Entity, frozen=True, kw_only=True, rename="camel"):
    """Someone who reads along."""

    name: MemberName
    favourites: Annotated[frozenset[BookId], Meta(max_length=20)] | None = None
    note_count: Count = 0


@circle.view(Note)
class Quote(View, frozen=True, kw_only=True, rename="camel"):
    """A note as the index of writers holds it."""

    book_id: BookId
    page: int
    text: str


@circle.item(strong=True)
def book(book_id: BookId) -> Key[Book]:
    """One book, as it is right now."""
    return Book.key(book_id=book_id)


@circle.query(returns=Note)
def notes_on(book_id: BookId) -> Span:
    """The notes on a book, in page order."""
    return circle.partition(Note.partition(book_id=book_id)).begins_with("NOTE#")


@circle.query(returns=(Book, Note))
def everything_on(book_id: BookId) -> Span:
    """A book together with its notes."""
    return circle.partition(Book.partition(book_id=book_id))


@circle.query(returns=Quote)
def written_by(name: MemberName) -> Span:
    """What a member wrote, newest first."""
    return by_writer.partition(f"MEMBER#{name}").newest_first()


@circle.query(returns=Book)
def on_shelf(shelf: Shelf) -> Span:
    """The books on a shelf, by title."""
    return by_shelf.partition(f"SHELF#{shelf}")


matrix = PermissionMatrix(
    {
        "WriteNoteFunction": [Grant(circle, READ_WRITE)],
        "ListNotesFunction": [Grant(circle, READ, indexes=(by_writer,))],
    }
)
