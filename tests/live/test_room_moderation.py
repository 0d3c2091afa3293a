"""What the host and the audience do in a running room: stored, told to whom it concerns, and heeded from then on."""

from typing import Any
from uuid import uuid4

import msgspec
import pytest

from tests.live.room_commands import HALL, MIDORI, SORA, answered, asks, carry_out, close, hall, somebody, stored, wants
from tests.support.stores import START
from zataku.errors import RequestError
from zataku.live.limits import MAX_PINS, CommentId
from zataku.live.messages import (
    BlockSender,
    BlockWord,
    DeleteComment,
    MarkComment,
    ModerationAction,
    PauseRoom,
    RetractComment,
    SetSlowMode,
    Snapshot,
    Upvote,
)
from zataku.live.moderation.design import log_of, upvotes_on
from zataku.live.room import LiveRoom
from zataku.live.rules.room_state import RoomState
from zataku.realtime.rooms.behaviour import Outcome
from zataku.table import Store

NOBODYS = CommentId("0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11")


async def begun(store: Store, *contents: str) -> tuple[LiveRoom, RoomState, list[CommentId]]:
    """A room in which Sora said something."""
    live_room = await hall(store)
    state = await live_room.acquire(HALL)
    kept = await carry_out(live_room, state, [asks(content) for content in contents])
    return live_room, kept.state, [it.comment_id for it in await stored(store)]


def told(kept: Outcome[RoomState], everybody: bool = True) -> list[dict[str, Any]]:
    """What everybody hears, or only the host."""
    return [msgspec.json.decode(it.body) for it in kept.events if (it.recipients is None) == everybody]


async def log(store: Store) -> list[tuple[str, str | None]]:
    return [(it.action, it.subject) async for it in store.each(log_of(HALL))][::-1]


async def seen(live_room: LiveRoom, state: RoomState, since: str | None = None) -> Snapshot:
    return msgspec.json.decode(await live_room.snapshot(state, SORA, since), type=Snapshot)


def contents(snapshot: Snapshot) -> list[str]:
    return [it.content for it in snapshot.comments]


async def test_a_hidden_comment_is_gone_for_everybody_and_comes_back_at_its_place(store: Store) -> None:
    live_room, state, (_, second, _) = await begun(store, "一", "二", "三")
    kept = await carry_out(live_room, state, [wants(MarkComment(comment_id=second, mark="HIDDEN"))])
    assert told(kept) == [{"k": "gone", "commentId": second}]
    snapshot = await seen(live_room, kept.state)
    assert (contents(snapshot), snapshot.standing.gone) == (["一", "三"], [second])
    assert contents(await seen(live_room, await live_room.acquire(HALL))) == ["一", "三"]
    state = await live_room.acquire(HALL)
    kept = await carry_out(
        live_room, state, [wants(MarkComment(comment_id=second, mark="HIDDEN", on=False))], START + 1
    )
    (back,) = told(kept)
    assert (back["k"], back["comment"]["content"], back["comment"]["seq"]) == ("back", "二", "000010000002")
    assert contents(await seen(live_room, kept.state)) == ["一", "二", "三"]
    assert await log(store) == [("HIDE", second), ("SHOW", second)]


async def test_pins_and_answers_are_told_and_outlive_the_owner(store: Store) -> None:
    live_room, state, (first, second) = await begun(store, "質問一", "質問二")
    acts = [
        MarkComment(comment_id=first, mark="PINNED"),
        MarkComment(comment_id=second, mark="PINNED"),
        MarkComment(comment_id=first, mark="ANSWERED"),
        MarkComment(comment_id=first, mark="PINNED", on=False),
    ]
    kept = await carry_out(live_room, state, [wants(act) for act in acts], START + 1)
    assert [it["k"] for it in told(kept)] == ["pinned", "pinned", "answered", "unpinned"]
    for state in (kept.state, await live_room.acquire(HALL)):
        standing = (await seen(live_room, state)).standing
        assert ([it.content for it in standing.pinned], standing.answered) == (["質問二"], [first])


async def test_the_log_is_told_to_the_host_alone(strict: Store) -> None:
    live_room, state, (first,) = await begun(strict, "spam spam")
    acts: list[ModerationAction] = [
        BlockWord(word="ＥＧＧＳ"),
        BlockSender(comment_id=first),
        SetSlowMode(seconds=30),
        PauseRoom(),
    ]
    kept = await carry_out(live_room, state, [wants(act) for act in acts])
    assert [it["k"] for it in told(kept)] == ["changed", "changed"]
    entries = [it["entry"] for it in told(kept, everybody=False)]
    assert [(it["action"], it.get("subject")) for it in entries] == await log(strict)
    assert await log(strict) == [("BLOCK_WORD", "eggs"), ("BLOCK_SENDER", first), ("SLOW", "30"), ("PAUSE", None)]
    assert {it.recipients for it in kept.events if it.recipients} == {frozenset({MIDORI.account_id})}
    assert SORA.account_id not in repr(kept.events)


async def test_what_is_so_already_is_not_done_twice(strict: Store) -> None:
    live_room, state, (first,) = await begun(strict, "一")
    acts: list[ModerationAction] = [
        MarkComment(comment_id=first, mark="PINNED"),
        BlockWord(word="spam"),
        PauseRoom(),
        SetSlowMode(seconds=5),
        BlockSender(comment_id=first),
    ]
    state = (await carry_out(live_room, state, [wants(act) for act in acts])).state
    before = await log(strict)
    kept = await carry_out(live_room, state, [wants(act) for act in acts])
    assert [msgspec.to_builtins(it) for it in kept.replies if not isinstance(it, RequestError)] == [{}] * 5
    assert (await log(strict), kept.events) == (before, [])


@pytest.mark.parametrize(
    "act",
    [
        MarkComment(comment_id=NOBODYS, mark="HIDDEN"),
        DeleteComment(comment_id=NOBODYS),
        PauseRoom(),
        SetSlowMode(seconds=5),
        BlockWord(word="spam"),
        BlockSender(comment_id=NOBODYS),
    ],
)
async def test_nobody_but_the_host_does_any_of_it(embedded: Store, act: ModerationAction) -> None:
    live_room, state, _ = await begun(embedded, "一")
    kept = await carry_out(live_room, state, [wants(act, SORA)])
    assert (answered(kept), kept.events, kept.state) == (["not_the_host"], [], state)
    assert await log(embedded) == []


@pytest.mark.parametrize(
    "act",
    [
        MarkComment(comment_id=NOBODYS, mark="HIDDEN"),
        DeleteComment(comment_id=NOBODYS),
        BlockSender(comment_id=NOBODYS),
        Upvote(comment_id=NOBODYS),
        RetractComment(comment_id=NOBODYS),
    ],
)
async def test_a_comment_that_is_not_there_is_refused(embedded: Store, act: Any) -> None:
    live_room, state, _ = await begun(embedded, "一")
    kept = await carry_out(live_room, state, [wants(act)])
    assert (answered(kept), kept.events) == (["no_such_comment"], [])


async def test_a_paused_room_takes_no_comments_until_it_goes_on(store: Store) -> None:
    live_room, state, _ = await begun(store, "一")
    kept = await carry_out(live_room, state, [wants(PauseRoom()), asks("二"), wants(PauseRoom(on=False)), asks("三")])
    assert [it.code for it in kept.replies if isinstance(it, RequestError)] == ["paused"]
    assert [it.content for it in await stored(store)] == ["一", "三"]


async def test_slow_mode_makes_everybody_but_the_host_wait_also_after_a_take_over(strict: Store) -> None:
    live_room, state, _ = await begun(strict, "一")
    state = (await carry_out(live_room, state, [wants(SetSlowMode(seconds=30))])).state
    for taken_over in (False, True):
        state = await live_room.acquire(HALL) if taken_over else state
        kept = await carry_out(
            live_room, state, [asks("二"), asks("host", MIDORI), asks("host again", MIDORI)], START + 20
        )
        assert answered(kept) == ["slow_mode", "host", "host again"]
        (refused, *_) = kept.replies
        assert isinstance(refused, RequestError)
        assert refused.details["retry_after"] == 10
    kept = await carry_out(live_room, state, [asks("三"), asks("四")], START + 30)
    assert answered(kept) == ["三", "slow_mode"]


async def test_a_flood_of_one_is_held_back_and_the_others_are_heard(strict: Store) -> None:
    live_room, state, _ = await begun(strict, "0")
    kept = await carry_out(live_room, state, [*(asks(str(n)) for n in range(1, 8)), asks("another", somebody(1))])
    assert answered(kept) == ["1", "2", "3", "4", *["too_many_requests"] * 3, "another"]
    (waits, *_) = [it.details["retry_after"] for it in kept.replies if isinstance(it, RequestError)]
    kept = await carry_out(live_room, kept.state, [asks("patient"), asks("impatient")], START + waits)
    assert answered(kept) == ["patient", "too_many_requests"]


@pytest.mark.parametrize("content", ["spam", "so much SPAM!", "ｓｐａｍ", "x" * 100 + "Spam"])
async def test_a_word_that_is_kept_out_is_refused_however_it_is_written(embedded: Store, content: str) -> None:
    live_room, state, _ = await begun(embedded, "before: spam")
    state = (await carry_out(live_room, state, [wants(BlockWord(word="Spam"))])).state
    for said in (asks(content), asks("hello", nickname="Spammer")):
        assert answered(await carry_out(live_room, await live_room.acquire(HALL), [said])) == ["blocked_word"]
    state = (await carry_out(live_room, await live_room.acquire(HALL), [wants(BlockWord(word="SPAM", on=False))])).state
    assert answered(await carry_out(live_room, state, [asks(content)])) == [content]


async def test_a_blocked_sender_is_heard_no_more_until_let_in(store: Store) -> None:
    live_room, state, (first,) = await begun(store, "一")
    state = (await carry_out(live_room, state, [wants(BlockSender(comment_id=first))])).state
    for taken_over in (False, True):
        state = await live_room.acquire(HALL) if taken_over else state
        voting = wants(Upvote(comment_id=first), SORA)
        kept = await carry_out(live_room, state, [asks("二"), voting, asks("三", somebody(1))])
        assert answered(kept)[:2] == ["blocked", "blocked"]
        state = kept.state
    kept = await carry_out(live_room, state, [wants(BlockSender(comment_id=first, on=False)), asks("四")], START + 9)
    assert [it.content for it in await stored(store)] == ["一", "三", "三", "四"]


async def test_a_host_cannot_keep_themselves_out(embedded: Store) -> None:
    live_room, state, _ = await begun(embedded)
    state = (await carry_out(live_room, state, [asks("私", MIDORI)])).state
    (mine,) = await stored(embedded)
    kept = await carry_out(live_room, state, [wants(BlockSender(comment_id=mine.comment_id))])
    assert answered(kept) == ["own_comment"]


async def test_so_many_pins_and_no_more(embedded: Store) -> None:
    live_room, state, ids = await begun(embedded, *map(str, range(5)))
    state = (await carry_out(live_room, state, [asks("one more", somebody(1))])).state
    ids = [it.comment_id for it in await stored(embedded)]
    kept = await carry_out(live_room, state, [wants(MarkComment(comment_id=it, mark="PINNED")) for it in ids])
    assert answered(kept, missing="done")[MAX_PINS:] == ["too_many_pins"]


async def test_people_take_back_what_they_wrote_for_a_minute(store: Store) -> None:
    live_room, state, (first, second) = await begun(store, "一", "二")
    kept = await carry_out(live_room, state, [wants(RetractComment(comment_id=first), MIDORI)])
    assert answered(kept) == ["not_yours"]
    kept = await carry_out(live_room, state, [wants(RetractComment(comment_id=first), SORA)], START + 60)
    assert told(kept) == [{"k": "gone", "commentId": first, "deleted": True}]
    assert contents(await seen(live_room, kept.state)) == ["二"]
    late = await carry_out(live_room, kept.state, [wants(RetractComment(comment_id=second), SORA)], START + 60.1)
    assert answered(late) == ["too_late"]
    assert [it.content for it in await stored(store)] == ["二"]
    assert first in (await seen(live_room, await live_room.acquire(HALL))).standing.gone


async def test_upvotes_of_many_are_counted_together_and_of_each_once(store: Store) -> None:
    live_room, state, (first, second) = await begun(store, "質問", "別の質問")
    crowd = [somebody(number) for number in range(40)]
    votes = [wants(Upvote(comment_id=first), who) for who in crowd]
    kept = await carry_out(live_room, state, [*votes, wants(Upvote(comment_id=second), SORA), *votes[:3]])
    assert told(kept) == [
        {"k": "upvoted", "commentId": first, "votes": 40},
        {"k": "upvoted", "commentId": second, "votes": 1},
    ]
    again = await carry_out(live_room, kept.state, [wants(Upvote(comment_id=first), who) for who in (*crowd[:2], SORA)])
    assert answered(again, missing="counted") == ["already_upvoted", "already_upvoted", "counted"]
    for state in (again.state, await live_room.acquire(HALL)):
        assert (await seen(live_room, state)).standing.votes == {first: 41, second: 1}
    counted = await store.get(upvotes_on(HALL, first))
    assert counted is not None
    assert counted.votes == 41


async def test_a_deleted_comment_takes_its_upvotes_along_and_takes_none_any_more(strict: Store) -> None:
    live_room, state, (first,) = await begun(strict, "質問")
    acts = [
        wants(Upvote(comment_id=first), SORA),
        wants(DeleteComment(comment_id=first)),
        wants(Upvote(comment_id=first)),
    ]
    kept = await carry_out(live_room, state, acts)
    assert [it["k"] for it in told(kept)] == ["upvoted", "gone"]
    assert [it.code for it in kept.replies if isinstance(it, RequestError)] == ["no_such_comment"]
    assert (await seen(live_room, kept.state)).standing.votes == {}


async def test_commands_of_all_kinds_in_one_batch_are_done_in_turn(strict: Store) -> None:
    live_room, state, (first,) = await begun(strict, "一")
    batch = [
        wants(Upvote(comment_id=first), SORA),
        asks("二", somebody(1)),
        wants(MarkComment(comment_id=first, mark="HIDDEN")),
        wants(Upvote(comment_id=first), somebody(2)),
        asks("三", somebody(3)),
        close(),
        asks("四", somebody(4)),
        wants(PauseRoom()),
    ]
    kept = await carry_out(live_room, state, batch)
    refusals = [it.code if isinstance(it, RequestError) else "" for it in kept.replies]
    assert refusals == ["", "", "", "no_such_comment", "", "", "room_closed", "room_closed"]
    assert [it["k"] for it in told(kept)] == ["commented", "upvoted", "gone", "commented", "closed"]
    assert kept.closed


async def test_a_comment_sent_again_under_its_id_is_one_comment(store: Store) -> None:
    live_room, state, _ = await begun(store)
    comment_id = str(uuid4())
    one, two = asks("一度", id=comment_id), asks("一度", id=comment_id)
    kept = await carry_out(live_room, state, [one, asks("他", somebody(1)), two])
    again = await carry_out(live_room, kept.state, [asks("一度", id=comment_id), asks("次", somebody(2))])
    assert kept.replies[0] == kept.replies[2] == again.replies[0]
    assert [it.content for it in await stored(store)] == ["一度", "他", "次"]
    assert len(told(kept)) == 2


async def test_nobody_writes_under_the_id_of_anothers_comment(strict: Store) -> None:
    live_room, state, (first,) = await begun(strict, "私の")
    kept = await carry_out(live_room, state, [asks("盗む", somebody(1), id=first), asks("他", somebody(2))])
    assert answered(kept) == ["id_taken", "他"]
    deleted = await carry_out(live_room, kept.state, [wants(DeleteComment(comment_id=first)), asks("私の", id=first)])
    assert [it.code for it in deleted.replies if isinstance(it, RequestError)] == ["deleted"]
    assert [it.content for it in await stored(strict)] == ["他"]


async def test_a_comment_that_was_taken_is_answered_so_though_the_room_would_not_take_it_now(strict: Store) -> None:
    live_room, state, _ = await begun(strict)
    comment_id = str(uuid4())
    first = await carry_out(live_room, state, [asks("一度", id=comment_id)])
    state = (await carry_out(live_room, first.state, [wants(PauseRoom()), wants(BlockWord(word="一度"))])).state
    kept = await carry_out(live_room, state, [asks("一度", id=comment_id), asks("新しい", id=str(uuid4()))])
    assert kept.replies[0] == first.replies[0]
    assert answered(kept) == ["一度", "paused"]
