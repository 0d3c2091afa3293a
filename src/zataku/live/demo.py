"""Demo data: an open room in which people have been talking for half an hour."""

from random import Random
from uuid import UUID

import msgspec

from zataku.clock import instant_ms
from zataku.live.design import Comment, Room, rooms, seq_of
from zataku.live.limits import ANONYMOUS, CommentId, HostId, RoomId, SenderId
from zataku.live.moderation.design import AnonymousSender, HostNames, Mark, Reactions, Upvote, Upvotes
from zataku.system import AppContext, Demo
from zataku.table import ConditionFailed, Entity, Store

DEMO_ROOM = RoomId("3f1f2b5e-7a1c-4f0e-9d57-0c2c3f6a1e03")
# No account has this id: account ids are random.
_HOST = HostId("00000000-0000-4000-a000-000000000003")
_HOST_NAME = "みどり"
_NAME = "はじめてのライブ · A first live room · 첫 라이브"
_CODE = "246810"
_EPOCH = 1
_SLOW_MODE_SECONDS = 5
_SECONDS_BETWEEN = 75
_SEED = 20260221


class _Line(msgspec.Struct, frozen=True):
    """What somebody says; without a nickname they are anonymous. `person` tells the senders apart."""

    person: str
    content: str
    nickname: str = ANONYMOUS
    votes: int = 0
    is_pinned: bool = False
    is_answered: bool = False


_LINES = (
    _Line("host", "ようこそ！ Ask anything while I talk. 편하게 물어보세요.", _HOST_NAME, is_pinned=True),
    _Line("sora", "音声も画面も大丈夫です", "そら"),
    _Line("haneul", "잘 들려요!", "하늘"),
    _Line("a", "Hello from the back row 👋"),
    _Line("sora", "一枚のテーブルに全部入れるんですか？", "そら", votes=7, is_answered=True),
    _Line("host", "はい。読み方から決めていきます", _HOST_NAME),
    _Line("b", "なるほど"),
    _Line("alice", "How do you test for stale reads?", "Alice", votes=12),
    _Line("haneul", "저도 궁금해요", "하늘"),
    _Line("c", "8888888"),
    _Line("a", "it works!!"),
    _Line("bjorn", "これ、ノートPC一台で動いてるの？", "Bjørn", votes=4),
    _Line("host", "Yes: one process, one file. 노트북 한 대면 충분해요.", _HOST_NAME),
    _Line("b", "すごい"),
    _Line("d", "발표 자료는 어디서 볼 수 있나요?", votes=9),
    _Line("alice", "🎉🎉🎉", "Alice"),
)


def demo_of(context: AppContext) -> Demo:
    """The function that opens the room, if the store has none. It is stored last, so that a repeated run completes it.

    Nobody is its host: a server that is open to strangers starts without the demo.
    """

    async def demo() -> None:
        if await _has_rooms(context.store):
            return
        now = context.clock.now()
        await context.store.write_many(put=_talk(Random(_SEED), now - len(_LINES) * _SECONDS_BETWEEN))
        try:
            await context.store.put(_room(now), if_absent=True)
        except ConditionFailed:
            # Another process has opened it.
            return

    return demo


async def _has_rooms(store: Store) -> bool:
    async for _ in store.scan(rooms):
        return True
    return False


def _room(now: float) -> Room:
    opened_at = instant_ms(now - (len(_LINES) + 1) * _SECONDS_BETWEEN)
    return Room(
        room_id=DEMO_ROOM,
        name=_NAME,
        host_id=_HOST,
        status="OPEN",
        created_at=opened_at,
        updated_at=opened_at,
        epoch=_EPOCH,
        slow_mode_seconds=_SLOW_MODE_SECONDS,
        code=_CODE,
        host_name=_HOST_NAME,
    )


def _talk(random: Random, start: float) -> list[Entity]:
    """The comments and all that belongs to them, as the first owner of the room would have stored them."""
    items: list[Entity] = [HostNames(room_id=DEMO_ROOM, names=(_HOST_NAME,))]
    numbers: dict[SenderId, int] = {}
    for at, line in enumerate(_LINES):
        sender = SenderId(_HOST if line.person == "host" else f"demo:{line.person}")
        is_numbered = line.nickname == ANONYMOUS
        posted_at = instant_ms(start + at * _SECONDS_BETWEEN + random.randrange(_SECONDS_BETWEEN))
        comment_id = CommentId(str(UUID(int=random.getrandbits(128), version=4)))
        items.append(
            Comment(
                room_id=DEMO_ROOM,
                comment_id=comment_id,
                content=line.content,
                nickname=line.nickname,
                created_at=posted_at,
                seq=seq_of(_EPOCH, at + 1),
                sender_id=sender,
                anonymous_number=numbers.setdefault(sender, len(numbers) + 1) if is_numbered else None,
            )
        )
        items += _standing(line, comment_id, posted_at)
    items += [AnonymousSender(room_id=DEMO_ROOM, sender_id=it, number=number) for it, number in numbers.items()]
    items.append(Reactions(room_id=DEMO_ROOM, minute=instant_ms(start - start % 60 + 600), clap=24, aha=9, lol=3))
    return items


def _standing(line: _Line, comment_id: CommentId, at: str) -> list[Entity]:
    items: list[Entity] = []
    if line.is_pinned:
        items.append(Mark(room_id=DEMO_ROOM, mark="PINNED", comment_id=comment_id, at=at))
    if line.is_answered:
        items.append(Mark(room_id=DEMO_ROOM, mark="ANSWERED", comment_id=comment_id, at=at))
    if line.votes:
        items.append(Upvotes(room_id=DEMO_ROOM, comment_id=comment_id, votes=line.votes))
    for number in range(line.votes):
        voter = SenderId(f"demo:voter-{number}")
        items.append(Upvote(room_id=DEMO_ROOM, comment_id=comment_id, sender_id=voter, at=at))
    return items
