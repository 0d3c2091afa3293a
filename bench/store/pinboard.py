"""The measured design: boards of notes of about 1 KB, an index by author, a stream with both images."""

import base64
from collections.abc import Iterator
from random import Random

from zataku.table import NEW_AND_OLD, Entity, Span, Table, path

BOARDS = 200
NOTES_PER_BOARD = 100
AUTHORS = 200
PAGE = 50
BATCH = 25
# 800 characters of Base64 are nearly incompressible; with keys and names an item has about 1 KB.
_BODY_BYTES = 600

pinboard = Table("Pinboard", pk="PK", sk="SK", stream=NEW_AND_OLD, transactions=True)
by_author = pinboard.index("GSI1", pk="GSI1PK", sk="GSI1SK")


@pinboard.entity(
    pk="BOARD#{board}",
    sk="NOTE#{number:08d}",
    index={"GSI1PK": "AUTHOR#{author}", "GSI1SK": "{board}#{number:08d}"},
)
class Note(Entity, frozen=True, kw_only=True, tag="NOTE"):
    """A note on a board."""

    board: str
    number: int
    author: str
    status: str
    likes: int
    created: int
    body: str


@pinboard.query(returns=Note)
def notes_of(board: str) -> Span:
    """The notes of a board in their order."""
    return pinboard.partition(f"BOARD#{board}").begins_with("NOTE#")


@pinboard.query(returns=Note)
def notes_by(author: str) -> Span:
    """The notes of an author."""
    return by_author.partition(f"AUTHOR#{author}")


status = path(Note, lambda note: note.status)
likes = path(Note, lambda note: note.likes)
body = path(Note, lambda note: note.body)


def board_name(at: int) -> str:
    """The name of a board."""
    return f"board-{at:04d}"


def author_name(at: int) -> str:
    """The name of an author."""
    return f"author-{at:04d}"


class Notes:
    """Generator of notes that never repeat, the same sequence in every run."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._next = NOTES_PER_BOARD

    def body(self) -> str:
        """A new text."""
        return base64.b64encode(self._random.randbytes(_BODY_BYTES)).decode()

    def existing(self) -> tuple[str, int]:
        """Board and number of a random initial note."""
        return board_name(self._random.randrange(BOARDS)), self._random.randrange(NOTES_PER_BOARD)

    def some_board(self) -> str:
        """A random board."""
        return board_name(self._random.randrange(BOARDS))

    def some_author(self) -> str:
        """A random author."""
        return author_name(self._random.randrange(AUTHORS))

    def fresh(self) -> Note:
        """A new note on a random board."""
        self._next += 1
        return self._note(self.some_board(), self._next)

    def first_load(self) -> Iterator[Note]:
        """The initial notes, written before anything is measured."""
        for board in range(BOARDS):
            for number in range(NOTES_PER_BOARD):
                yield self._note(board_name(board), number)

    def _note(self, board: str, number: int) -> Note:
        return Note(
            board=board,
            number=number,
            # Spread so that every author has as many notes as a board.
            author=author_name((int(board[-4:]) * 7 + number) % AUTHORS),
            status="open",
            likes=0,
            created=1_760_000_000 + number,
            body=self.body(),
        )
