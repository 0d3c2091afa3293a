"""What processes tell each other about rooms.

The owner of a room tells the others everything that happens there, on the room's own channel, as numbered words: a
process that misses one notices by the number of the next. What is asked of a process goes to its own channel, and the
reply to that of the asker.
"""

from typing import Any, TypeAlias

import msgspec

from zataku.errors import Problem
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import Command, Event, RoomBehaviour


class _Word(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """`epoch` is that of the owner who tells it, `number` goes up by one with each word, `seq` with each kept event."""

    epoch: int
    number: int
    seq: int


class Happened(_Word, frozen=True, kw_only=True, tag="happened"):
    """Outcome events, the last of which is `seq`."""

    events: tuple[Event, ...]

    @property
    def after(self) -> int:
        """The number of the event before these."""
        return self.seq - len(self.events)


class PassedBy(_Word, frozen=True, kw_only=True, tag="passed_by"):
    """Events that are nowhere kept. `matters` says that the room is another for them, as a picture with one more line.

    Whoever did not hear such a word does not know how the room is, whatever kept events they know.
    """

    matters: bool
    events: tuple[Event, ...]
    binary: tuple[bytes, ...]


class Counted(_Word, frozen=True, kw_only=True, tag="counted"):
    """How many people are in the room."""

    here: int


class Renewed(_Word, frozen=True, kw_only=True, tag="renewed"):
    """The room was loaded anew, or has a new owner: who hears it needs a snapshot."""

    owner: str
    here: int


class Over(_Word, frozen=True, kw_only=True, tag="over"):
    """The room has ended."""

    problem: Problem


class Alive(_Word, frozen=True, kw_only=True, tag="alive"):
    """The owner is there, with so many people; `number` is that of the last word, this one has none of its own."""

    owner: str
    here: int


class Left(_Word, frozen=True, kw_only=True, tag="left"):
    """The owner runs the room no more. `freely` says that it is there to be taken at once."""

    owner: str
    freely: bool


Word: TypeAlias = Happened | PassedBy | Counted | Renewed | Over | Alive | Left


class _Letter(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    sender: str
    topic: str


class EncodedCommand(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"sender": "who", "body": "what", "is_retry": "again", "id": "mark"},
):
    """A `Command` on its way to another process, with its body as JSON or as the bytes of a binary message."""

    sender: Identity
    body: bytes
    binary: bool = False
    is_retry: bool = False
    id: str = ""


class Ask(_Letter, frozen=True, kw_only=True, tag="ask"):
    """A kept command for the owner, answered by a `CallReply`."""

    id: int
    command: EncodedCommand


class Passes(_Letter, frozen=True, kw_only=True, tag="passes"):
    """A passing command for the owner."""

    command: EncodedCommand


class Look(_Letter, frozen=True, kw_only=True, tag="look"):
    """What somebody sees of the room, answered by a `CallReply`. Not `whole`: only whether they may."""

    id: int
    who: Identity
    since: str | None
    whole: bool


class People(_Letter, frozen=True, kw_only=True, tag="people"):
    """Who came and left in the sender's process, and how many are there. `all` says that `came` are all."""

    came: tuple[AccountId, ...]
    left: tuple[AccountId, ...]
    total: int
    all: bool


class WhoIsThere(_Letter, frozen=True, kw_only=True, tag="who_is_there"):
    """The owner lost count of the people in a process: it wants to hear of all of them."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A refusal on its way back."""

    status: int
    problem: Problem


class Sight(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A room as somebody may see it, at its place and after the word of that number. No body: only that they may."""

    epoch: int
    seq: int
    number: int
    here: int
    body: bytes | None = None


class CallReply(_Letter, frozen=True, kw_only=True, tag="reply"):
    """What came of a command or a look: its result, a sight, or a refusal.

    `moved` says that the sender does not own the room (any more), and `perhaps` that the command may have been carried
    out all the same.
    """

    id: int
    result: bytes | None = None
    sight: Sight | None = None
    refusal: Refusal | None = None
    moved: bool = False
    perhaps: bool = False


Letter: TypeAlias = Ask | Passes | Look | People | WhoIsThere | CallReply


class Running(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """The rooms that a process runs, and how many people are in each."""

    process: str
    rooms: dict[str, int]


encode = msgspec.msgpack.Encoder().encode
decode_word = msgspec.msgpack.Decoder(Word).decode
decode_letter = msgspec.msgpack.Decoder(Letter).decode
decode_running = msgspec.msgpack.Decoder(Running).decode


def encode_command(command: Command) -> EncodedCommand:
    """A command in the form that crosses the bus."""
    return EncodedCommand(
        sender=command.sender,
        body=command.body if command.binary else msgspec.json.encode(command.body),
        binary=command.binary,
        is_retry=command.is_retry,
        id=command.id,
    )


def decode_command(behaviour: RoomBehaviour[Any], encoded: EncodedCommand, *, transient: bool = False) -> Command:
    """The command that another process sent. Raises `RequestError` when its body is not valid."""
    body: Any = encoded.body
    if not encoded.binary:
        body = (behaviour.decode_transient if transient else behaviour.decode_command)(encoded.body)
    return Command(sender=encoded.sender, body=body, binary=encoded.binary, is_retry=encoded.is_retry, id=encoded.id)
