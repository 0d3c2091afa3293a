"""Sample data: a talk of an hour with thousands of comments. The same seed and start give the same data."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import TypeAlias
from uuid import UUID

from msgspec import structs

from zataku.clock import instant_ms
from zataku.live.design import Comment, Connection, Room, seq_of
from zataku.live.limits import (
    ANONYMOUS,
    CONNECTION_TTL_SECONDS,
    Action,
    CommentId,
    ConnectionId,
    HostId,
    HostMark,
    LogId,
    ProcessName,
    RoomId,
    SenderId,
    fold_word,
)
from zataku.live.moderation.design import (
    AnonymousSender,
    Block,
    HostNames,
    LogEntry,
    Mark,
    Reactions,
    Upvote,
    Upvotes,
)
from zataku.table import Entity

ModerationItem: TypeAlias = Block | Upvotes | LogEntry | Mark | Upvote

TALK_COMMENTS = 5000
TAKEOVER_MINUTE = 40
HOST = HostId("user:midori")

_TITLES = (
    "一枚のテーブルで作るゲームサーバー",
    "단일 테이블 설계의 기초",
    "Single-table design by example",
    "LT大会 2026 春",
)
_NAMES = (
    "みどり", "そら", "たけのこ派", "通りすがりのエンジニア", "ねこ🐈",
    "하늘", "민준", "커피한잔", "서연", "Alice", "Bjørn", "Zoë", "dev_42",
)  # fmt: skip
_QUIET = (
    "なるほど", "メモした", "👏", "音声OKです", "まってました",
    "잘 들려요", "오늘도 화이팅!", "Hello from Berlin", "nice slides",
)  # fmt: skip
_LOUD = (
    "おおおお！", "すごい", "8888888", "動いた！！", "👨‍👩‍👧‍👦 家族で見てます",
    "ㅋㅋㅋㅋ", "대박", "와…", "WOW", "it works!", "🎉🎉🎉",
)  # fmt: skip
_QUESTIONS = (
    "質問です。スキーマを変えるときはどうしますか？",
    "Q: 費用はどれくらい変わりましたか",
    "질문 있습니다! 트랜잭션이 충돌하면 어떻게 되나요?",
    "How do you test for stale reads?",
    "ローカルでも同じコードが動きますか？",
)
_BLOCKED_WORDS = ("つまらん", "광고", "spam")
# Weights of the minutes of the talk.
_QUIET_TALK, _DEMO, _QUESTION_TIME = 1.0, 9.0, 4.0


def _phase(minute: int) -> tuple[float, tuple[str, ...]]:
    """The weight of a minute and its phrases: the demo is loud, the questions come at the end."""
    if 25 <= minute < 31:
        return _DEMO, _LOUD
    if minute >= 50:
        return _QUESTION_TIME, _QUESTIONS
    return (3.0 if minute < 2 else _QUIET_TALK), _QUIET


def _uuid(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))


def rooms_of(random: Random, start: float, count: int, host_id: HostId = HOST) -> Iterator[Room]:
    """Open rooms of one host, a week apart."""
    for number in range(count):
        at = instant_ms(start + number * 7 * 24 * 60 * 60)
        name = f"{_TITLES[number % len(_TITLES)]} #{number + 1}"
        room_id = RoomId(_uuid(random))
        yield Room(room_id=room_id, name=name, host_id=host_id, status="OPEN", created_at=at, updated_at=at)


def talk_comments(random: Random, start: float, room_id: RoomId, count: int = TALK_COMMENTS) -> Iterator[Comment]:
    """The comments of an hour, in order: quiet at first, bursts at the demo, questions at the end.

    After 40 minutes another process takes the room and starts its own numbers.
    """
    senders = [SenderId(f"guest:{random.getrandbits(48):012x}") for _ in range(max(1, count // 12))]
    names = {sender: random.choice(_NAMES) if random.random() < 0.6 else ANONYMOUS for sender in senders}
    total = sum(_phase(minute)[0] for minute in range(60))
    numbers: dict[SenderId, int] = {}
    posted, before, due = 0, 0, 0.0
    for minute in range(60):
        epoch = 1 if minute < TAKEOVER_MINUTE else 2
        before = posted if minute == TAKEOVER_MINUTE else before
        weight, phrases = _phase(minute)
        due += count * weight / total
        in_minute = (count if minute == 59 else round(due)) - posted
        for offset in sorted(random.randrange(60_000) for _ in range(in_minute)):
            posted += 1
            sender = random.choice(senders)
            is_anonymous = names[sender] == ANONYMOUS
            yield Comment(
                room_id=room_id,
                comment_id=CommentId(_uuid(random)),
                content=random.choice(phrases),
                nickname=names[sender],
                created_at=instant_ms(start + minute * 60 + offset / 1000),
                seq=seq_of(epoch, posted - before),
                sender_id=sender,
                anonymous_number=numbers.setdefault(sender, len(numbers) + 1) if is_anonymous else None,
            )


def talk_senders(comments: Iterable[Comment]) -> Iterator[AnonymousSender]:
    """The numbers of the senders without a nickname."""
    numbers = {it.sender_id: (it.room_id, it.anonymous_number) for it in comments}
    for sender, (room_id, number) in numbers.items():
        if sender is not None and number is not None:
            yield AnonymousSender(room_id=room_id, sender_id=sender, number=number)


def talk_moderation(random: Random, talk: Room, comments: Iterable[Comment]) -> Iterator[ModerationItem]:
    """The moderation of a talk: blocks, some hidden comments, the best questions upvoted, pinned and answered."""
    room_id = talk.room_id
    for word in _BLOCKED_WORDS:
        yield Block(room_id=room_id, what="WORD", value=fold_word(word), at=talk.created_at)
        yield _log_entry(random, room_id, talk.created_at, "BLOCK_WORD", fold_word(word))
    for comment in comments:
        if comment.content in _QUESTIONS and random.random() < 0.04:
            yield from _question(random, comment)
        elif random.random() < 0.004:
            yield from _marked(random, comment, "HIDDEN", "HIDE")


def _question(random: Random, comment: Comment) -> Iterator[ModerationItem]:
    room_id, comment_id, at = comment.room_id, comment.comment_id, comment.created_at
    votes = random.randint(1, 40)
    yield Upvotes(room_id=room_id, comment_id=comment_id, votes=votes)
    for number in range(votes):
        sender = SenderId(f"guest:{number:04x}{random.getrandbits(32):08x}")
        yield Upvote(room_id=room_id, comment_id=comment_id, sender_id=sender, at=at)
    if votes > 30:
        yield from _marked(random, comment, "PINNED", "PIN")
    if votes > 20:
        yield from _marked(random, comment, "ANSWERED", "ANSWER")


def _marked(random: Random, comment: Comment, mark: HostMark, action: Action) -> Iterator[ModerationItem]:
    room_id, comment_id, at = comment.room_id, comment.comment_id, comment.created_at
    yield Mark(room_id=room_id, mark=mark, comment_id=comment_id, at=at)
    yield _log_entry(random, room_id, at, action, comment_id)


def _log_entry(random: Random, room_id: RoomId, at: str, action: Action, subject: str) -> LogEntry:
    return LogEntry(room_id=room_id, at=at, log_id=LogId(_uuid(random)), action=action, subject=subject)


def audience(random: Random, start: float, room_id: RoomId, owner: ProcessName, count: int) -> Iterator[Connection]:
    """The connections of one process to a room."""
    for number in range(count):
        at = start + number / 100
        yield Connection(
            connection_id=ConnectionId(f"{random.getrandbits(88):022x}="),
            room_id=room_id,
            timestamp=instant_ms(at),
            ttl=int(at) + CONNECTION_TTL_SECONDS,
            owner=owner,
        )


def examples() -> Iterator[Entity]:
    """An item of each kind, of a talk with an audience, for the design document."""
    random, start = Random(1), 1_771_669_800.0
    room = next(rooms_of(random, start, 1))
    yield structs.replace(room, epoch=2, slow_mode_seconds=5, code="482159")
    comments = list(talk_comments(random, start, room.room_id, 500))
    yield from comments
    yield from talk_moderation(random, room, comments)
    yield from talk_senders(comments)
    yield HostNames(room_id=room.room_id, names=("みどり",))
    spam = comments[0]
    assert spam.sender_id is not None
    yield Block(
        room_id=room.room_id, what="SENDER", value=spam.sender_id, at=spam.created_at, comment_id=spam.comment_id
    )
    yield from audience(random, start, room.room_id, ProcessName("web-1"), 1)
    yield Reactions(room_id=room.room_id, minute=instant_ms(start), clap=12, aha=3, lol=1)
