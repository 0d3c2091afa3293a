"""Moderation, upvotes and retractions in a running room: stored, published, and in effect from then on."""

from typing import Any
from uuid import uuid4

import msgspec
import pytest

from tests.live.room.room_commands import (
    MIDORI,
    ROOM_ID,
    SORA,
    close,
    command_of,
    execute_all,
    guest,
    open_live_room,
    post_comment,
    reply_summaries,
    snapshot_of,
    stored_comments,
)
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

UNKNOWN_ID = CommentId("0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11")


async def room_with_comments(store: Store, *contents: str) -> tuple[LiveRoom, RoomState, list[CommentId]]:
    """A room with comments of Sora: its behaviour, its state, and the ids of the comments."""
    live_room = await open_live_room(store)
    state = await live_room.acquire(ROOM_ID)
    outcome = await execute_all(live_room, state, [post_comment(content) for content in contents])
    return live_room, outcome.state, [it.comment_id for it in await stored_comments(store)]


def published(outcome: Outcome[RoomState], *, to_all: bool = True) -> list[dict[str, Any]]:
    """The events to all subscribers, or those to the host only."""
    return [msgspec.json.decode(it.body) for it in outcome.events if (it.recipients is None) == to_all]


async def log(store: Store) -> list[tuple[str, str | None]]:
    return [(it.action, it.subject) async for it in store.each(log_of(ROOM_ID))][::-1]


def contents(snapshot: Snapshot) -> list[str]:
    return [it.content for it in snapshot.comments]


async def test_a_hidden_comment_disappears_and_is_restored_at_its_position(store: Store) -> None:
    live_room, state, (_, second, _) = await room_with_comments(store, "一", "二", "三")
    outcome = await execute_all(live_room, state, [command_of(MarkComment(comment_id=second, mark="HIDDEN"))])
    assert published(outcome) == [{"k": "gone", "commentId": second}]
    snapshot = await snapshot_of(live_room, outcome.state)
    assert (contents(snapshot), snapshot.standing.gone) == (["一", "三"], [second])
    assert contents(await snapshot_of(live_room, await live_room.acquire(ROOM_ID))) == ["一", "三"]
    state = await live_room.acquire(ROOM_ID)
    outcome = await execute_all(
        live_room, state, [command_of(MarkComment(comment_id=second, mark="HIDDEN", on=False))], START + 1
    )
    (back,) = published(outcome)
    assert (back["k"], back["comment"]["content"], back["comment"]["seq"]) == ("back", "二", "000010000002")
    assert contents(await snapshot_of(live_room, outcome.state)) == ["一", "二", "三"]
    assert await log(store) == [("HIDE", second), ("SHOW", second)]


async def test_pins_and_answers_are_published_and_survive_a_new_owner(store: Store) -> None:
    live_room, state, (first, second) = await room_with_comments(store, "質問一", "質問二")
    actions = [
        MarkComment(comment_id=first, mark="PINNED"),
        MarkComment(comment_id=second, mark="PINNED"),
        MarkComment(comment_id=first, mark="ANSWERED"),
        MarkComment(comment_id=first, mark="PINNED", on=False),
    ]
    outcome = await execute_all(live_room, state, [command_of(action) for action in actions], START + 1)
    assert [it["k"] for it in published(outcome)] == ["pinned", "pinned", "answered", "unpinned"]
    for state in (outcome.state, await live_room.acquire(ROOM_ID)):
        standing = (await snapshot_of(live_room, state)).standing
        assert ([it.content for it in standing.pinned], standing.answered) == (["質問二"], [first])


async def test_log_entries_are_published_to_the_host_only(strict: Store) -> None:
    live_room, state, (first,) = await room_with_comments(strict, "spam spam")
    actions: list[ModerationAction] = [
        BlockWord(word="ＥＧＧＳ"),
        BlockSender(comment_id=first),
        SetSlowMode(seconds=30),
        PauseRoom(),
    ]
    outcome = await execute_all(live_room, state, [command_of(action) for action in actions])
    assert [it["k"] for it in published(outcome)] == ["changed", "changed"]
    entries = [it["entry"] for it in published(outcome, to_all=False)]
    assert [(it["action"], it.get("subject")) for it in entries] == await log(strict)
    assert await log(strict) == [("BLOCK_WORD", "eggs"), ("BLOCK_SENDER", first), ("SLOW", "30"), ("PAUSE", None)]
    assert {it.recipients for it in outcome.events if it.recipients} == {frozenset({MIDORI.account_id})}
    assert SORA.account_id not in repr(outcome.events)


async def test_an_action_that_changes_nothing_is_not_stored(strict: Store) -> None:
    live_room, state, (first,) = await room_with_comments(strict, "一")
    actions: list[ModerationAction] = [
        MarkComment(comment_id=first, mark="PINNED"),
        BlockWord(word="spam"),
        PauseRoom(),
        SetSlowMode(seconds=5),
        BlockSender(comment_id=first),
    ]
    state = (await execute_all(live_room, state, [command_of(action) for action in actions])).state
    before = await log(strict)
    outcome = await execute_all(live_room, state, [command_of(action) for action in actions])
    assert [msgspec.to_builtins(it) for it in outcome.replies if not isinstance(it, RequestError)] == [{}] * 5
    assert (await log(strict), outcome.events) == (before, [])


@pytest.mark.parametrize(
    "action",
    [
        MarkComment(comment_id=UNKNOWN_ID, mark="HIDDEN"),
        DeleteComment(comment_id=UNKNOWN_ID),
        PauseRoom(),
        SetSlowMode(seconds=5),
        BlockWord(word="spam"),
        BlockSender(comment_id=UNKNOWN_ID),
    ],
)
async def test_only_the_host_moderates(embedded: Store, action: ModerationAction) -> None:
    live_room, state, _ = await room_with_comments(embedded, "一")
    outcome = await execute_all(live_room, state, [command_of(action, SORA)])
    assert (reply_summaries(outcome), outcome.events, outcome.state) == (["not_the_host"], [], state)
    assert await log(embedded) == []


@pytest.mark.parametrize(
    "action",
    [
        MarkComment(comment_id=UNKNOWN_ID, mark="HIDDEN"),
        DeleteComment(comment_id=UNKNOWN_ID),
        BlockSender(comment_id=UNKNOWN_ID),
        Upvote(comment_id=UNKNOWN_ID),
        RetractComment(comment_id=UNKNOWN_ID),
    ],
)
async def test_an_unknown_comment_cannot_be_moderated(embedded: Store, action: Any) -> None:
    live_room, state, _ = await room_with_comments(embedded, "一")
    outcome = await execute_all(live_room, state, [command_of(action)])
    assert (reply_summaries(outcome), outcome.events) == (["no_such_comment"], [])


async def test_a_paused_room_accepts_no_comments_until_it_is_resumed(store: Store) -> None:
    live_room, state, _ = await room_with_comments(store, "一")
    outcome = await execute_all(
        live_room,
        state,
        [command_of(PauseRoom()), post_comment("二"), command_of(PauseRoom(on=False)), post_comment("三")],
    )
    assert [it.code for it in outcome.replies if isinstance(it, RequestError)] == ["paused"]
    assert [it.content for it in await stored_comments(store)] == ["一", "三"]


async def test_slow_mode_limits_all_but_the_host_also_under_a_new_owner(strict: Store) -> None:
    live_room, state, _ = await room_with_comments(strict, "一")
    state = (await execute_all(live_room, state, [command_of(SetSlowMode(seconds=30))])).state
    for taken_over in (False, True):
        state = await live_room.acquire(ROOM_ID) if taken_over else state
        outcome = await execute_all(
            live_room,
            state,
            [post_comment("二"), post_comment("host", MIDORI), post_comment("host again", MIDORI)],
            START + 20,
        )
        assert reply_summaries(outcome) == ["slow_mode", "host", "host again"]
        (refused, *_) = outcome.replies
        assert isinstance(refused, RequestError)
        assert refused.details["retry_after"] == 10
    outcome = await execute_all(live_room, state, [post_comment("三"), post_comment("四")], START + 30)
    assert reply_summaries(outcome) == ["三", "slow_mode"]


async def test_a_flood_of_one_sender_is_limited_and_others_are_not(strict: Store) -> None:
    live_room, state, _ = await room_with_comments(strict, "0")
    outcome = await execute_all(
        live_room, state, [*(post_comment(str(n)) for n in range(1, 8)), post_comment("another", guest(1))]
    )
    assert reply_summaries(outcome) == ["1", "2", "3", "4", *["too_many_requests"] * 3, "another"]
    (retry_after, *_) = [it.details["retry_after"] for it in outcome.replies if isinstance(it, RequestError)]
    outcome = await execute_all(
        live_room, outcome.state, [post_comment("patient"), post_comment("impatient")], START + retry_after
    )
    assert reply_summaries(outcome) == ["patient", "too_many_requests"]


@pytest.mark.parametrize("content", ["spam", "so much SPAM!", "ｓｐａｍ", "x" * 100 + "Spam"])
async def test_a_blocked_word_is_refused_however_it_is_written(embedded: Store, content: str) -> None:
    live_room, state, _ = await room_with_comments(embedded, "before: spam")
    state = (await execute_all(live_room, state, [command_of(BlockWord(word="Spam"))])).state
    for command in (post_comment(content), post_comment("hello", nickname="Spammer")):
        assert reply_summaries(await execute_all(live_room, await live_room.acquire(ROOM_ID), [command])) == [
            "blocked_word"
        ]
    state = (
        await execute_all(live_room, await live_room.acquire(ROOM_ID), [command_of(BlockWord(word="SPAM", on=False))])
    ).state
    assert reply_summaries(await execute_all(live_room, state, [post_comment(content)])) == [content]


async def test_a_blocked_sender_cannot_comment_until_unblocked(store: Store) -> None:
    live_room, state, (first,) = await room_with_comments(store, "一")
    state = (await execute_all(live_room, state, [command_of(BlockSender(comment_id=first))])).state
    for taken_over in (False, True):
        state = await live_room.acquire(ROOM_ID) if taken_over else state
        voting = command_of(Upvote(comment_id=first), SORA)
        outcome = await execute_all(live_room, state, [post_comment("二"), voting, post_comment("三", guest(1))])
        assert reply_summaries(outcome)[:2] == ["blocked", "blocked"]
        state = outcome.state
    outcome = await execute_all(
        live_room, state, [command_of(BlockSender(comment_id=first, on=False)), post_comment("四")], START + 9
    )
    assert [it.content for it in await stored_comments(store)] == ["一", "三", "三", "四"]


async def test_a_host_cannot_block_themselves(embedded: Store) -> None:
    live_room, state, _ = await room_with_comments(embedded)
    state = (await execute_all(live_room, state, [post_comment("私", MIDORI)])).state
    (mine,) = await stored_comments(embedded)
    outcome = await execute_all(live_room, state, [command_of(BlockSender(comment_id=mine.comment_id))])
    assert reply_summaries(outcome) == ["own_comment"]


async def test_the_number_of_pins_is_limited(embedded: Store) -> None:
    live_room, state, ids = await room_with_comments(embedded, *map(str, range(5)))
    state = (await execute_all(live_room, state, [post_comment("one more", guest(1))])).state
    ids = [it.comment_id for it in await stored_comments(embedded)]
    outcome = await execute_all(live_room, state, [command_of(MarkComment(comment_id=it, mark="PINNED")) for it in ids])
    assert reply_summaries(outcome, missing="done")[MAX_PINS:] == ["too_many_pins"]


async def test_senders_retract_their_comments_for_a_minute(store: Store) -> None:
    live_room, state, (first, second) = await room_with_comments(store, "一", "二")
    outcome = await execute_all(live_room, state, [command_of(RetractComment(comment_id=first), MIDORI)])
    assert reply_summaries(outcome) == ["not_yours"]
    outcome = await execute_all(live_room, state, [command_of(RetractComment(comment_id=first), SORA)], START + 60)
    assert published(outcome) == [{"k": "gone", "commentId": first, "deleted": True}]
    assert contents(await snapshot_of(live_room, outcome.state)) == ["二"]
    late = await execute_all(
        live_room, outcome.state, [command_of(RetractComment(comment_id=second), SORA)], START + 60.1
    )
    assert reply_summaries(late) == ["too_late"]
    assert [it.content for it in await stored_comments(store)] == ["二"]
    assert first in (await snapshot_of(live_room, await live_room.acquire(ROOM_ID))).standing.gone


async def test_upvotes_of_many_senders_are_counted_together_and_of_each_once(store: Store) -> None:
    live_room, state, (first, second) = await room_with_comments(store, "質問", "別の質問")
    crowd = [guest(number) for number in range(40)]
    votes = [command_of(Upvote(comment_id=first), voter) for voter in crowd]
    outcome = await execute_all(
        live_room, state, [*votes, command_of(Upvote(comment_id=second), guest(41)), *votes[:3]]
    )
    assert published(outcome) == [
        {"k": "upvoted", "commentId": first, "votes": 40},
        {"k": "upvoted", "commentId": second, "votes": 1},
    ]
    again = await execute_all(
        live_room, outcome.state, [command_of(Upvote(comment_id=first), voter) for voter in (*crowd[:2], guest(41))]
    )
    assert reply_summaries(again, missing="counted") == ["already_upvoted", "already_upvoted", "counted"]
    for state in (again.state, await live_room.acquire(ROOM_ID)):
        assert (await snapshot_of(live_room, state)).standing.votes == {first: 41, second: 1}
    counted = await store.get(upvotes_on(ROOM_ID, first))
    assert counted is not None
    assert counted.votes == 41


async def test_an_upvote_can_be_taken_back_and_given_again(store: Store) -> None:
    live_room, state, (first,) = await room_with_comments(store, "質問")
    crowd = [guest(number) for number in range(3)]
    on, off = Upvote(comment_id=first), Upvote(comment_id=first, on=False)
    state = (await execute_all(live_room, state, [command_of(on, voter) for voter in crowd])).state
    taken_back = await execute_all(live_room, state, [command_of(off, voter) for voter in (*crowd[:2], guest(9))])
    assert reply_summaries(taken_back, missing="done") == ["done", "done", "not_upvoted"]
    assert [it["votes"] for it in published(taken_back)] == [1]
    for state in (taken_back.state, await live_room.acquire(ROOM_ID)):
        assert (await snapshot_of(live_room, state)).standing.votes == {first: 1}
    batch = [command_of(off, crowd[2]), command_of(on, crowd[0]), command_of(off, crowd[0])]
    outcome = await execute_all(live_room, state, batch)
    assert reply_summaries(outcome, missing="done") == ["done", "done", "done"]
    assert (await snapshot_of(live_room, outcome.state)).standing.votes == {}
    assert await store.get(upvotes_on(ROOM_ID, first)) is None
    again = await execute_all(live_room, outcome.state, [command_of(on, crowd[0]), command_of(off, crowd[1])])
    assert reply_summaries(again, missing="done") == ["done", "not_upvoted"]


async def test_nobody_upvotes_their_own_comment(embedded: Store) -> None:
    live_room, state, (first,) = await room_with_comments(embedded, "質問")
    for held in (state, msgspec.structs.replace(state, recent=())):
        outcome = await execute_all(live_room, held, [command_of(Upvote(comment_id=first), SORA)])
        assert (reply_summaries(outcome), outcome.events) == (["own_upvote"], [])


async def test_the_host_comments_in_a_paused_room(store: Store) -> None:
    live_room, state, _ = await room_with_comments(store, "一")
    batch = [command_of(PauseRoom()), post_comment("二"), post_comment("三", MIDORI), post_comment("四", MIDORI)]
    outcome = await execute_all(live_room, state, batch)
    assert reply_summaries(outcome) == ["", "paused", "三", "四"]
    assert [it.content for it in await stored_comments(store)] == ["一", "三", "四"]


async def test_a_deleted_comment_loses_its_upvotes_and_accepts_none(strict: Store) -> None:
    live_room, state, (first,) = await room_with_comments(strict, "質問")
    actions = [
        command_of(Upvote(comment_id=first), guest(1)),
        command_of(DeleteComment(comment_id=first)),
        command_of(Upvote(comment_id=first)),
    ]
    outcome = await execute_all(live_room, state, actions)
    assert [it["k"] for it in published(outcome)] == ["upvoted", "gone"]
    assert [it.code for it in outcome.replies if isinstance(it, RequestError)] == ["no_such_comment"]
    assert (await snapshot_of(live_room, outcome.state)).standing.votes == {}


async def test_commands_of_all_kinds_in_one_batch_are_executed(strict: Store) -> None:
    live_room, state, (first,) = await room_with_comments(strict, "一")
    batch = [
        command_of(Upvote(comment_id=first), guest(9)),
        post_comment("二", guest(1)),
        command_of(MarkComment(comment_id=first, mark="HIDDEN")),
        command_of(Upvote(comment_id=first), guest(2)),
        post_comment("三", guest(3)),
        close(),
        post_comment("四", guest(4)),
        command_of(PauseRoom()),
    ]
    outcome = await execute_all(live_room, state, batch)
    codes = [it.code if isinstance(it, RequestError) else "" for it in outcome.replies]
    assert codes == ["", "", "", "no_such_comment", "", "", "room_closed", "room_closed"]
    assert [it["k"] for it in published(outcome)] == ["commented", "upvoted", "gone", "commented", "closed"]
    assert outcome.closed


async def test_a_comment_sent_again_under_its_id_is_one_comment(store: Store) -> None:
    live_room, state, _ = await room_with_comments(store)
    comment_id = str(uuid4())
    one, two = post_comment("一度", id=comment_id), post_comment("一度", id=comment_id)
    outcome = await execute_all(live_room, state, [one, post_comment("他", guest(1)), two])
    again = await execute_all(
        live_room, outcome.state, [post_comment("一度", id=comment_id), post_comment("次", guest(2))]
    )
    assert outcome.replies[0] == outcome.replies[2] == again.replies[0]
    assert [it.content for it in await stored_comments(store)] == ["一度", "他", "次"]
    assert len(published(outcome)) == 2


async def test_the_id_of_another_senders_comment_is_refused(strict: Store) -> None:
    live_room, state, (first,) = await room_with_comments(strict, "私の")
    outcome = await execute_all(
        live_room, state, [post_comment("盗む", guest(1), id=first), post_comment("他", guest(2))]
    )
    assert reply_summaries(outcome) == ["id_taken", "他"]
    deleted = await execute_all(
        live_room, outcome.state, [command_of(DeleteComment(comment_id=first)), post_comment("私の", id=first)]
    )
    assert [it.code for it in deleted.replies if isinstance(it, RequestError)] == ["deleted"]
    assert [it.content for it in await stored_comments(strict)] == ["他"]


async def test_a_repeated_comment_is_returned_as_stored_though_the_room_would_refuse_it_now(strict: Store) -> None:
    live_room, state, _ = await room_with_comments(strict)
    comment_id = str(uuid4())
    first = await execute_all(live_room, state, [post_comment("一度", id=comment_id)])
    state = (
        await execute_all(live_room, first.state, [command_of(PauseRoom()), command_of(BlockWord(word="一度"))])
    ).state
    outcome = await execute_all(
        live_room, state, [post_comment("一度", id=comment_id), post_comment("新しい", id=str(uuid4()))]
    )
    assert outcome.replies[0] == first.replies[0]
    assert reply_summaries(outcome) == ["一度", "paused"]
