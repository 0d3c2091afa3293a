"""Moderation of a room by its host, with log entries, and upvotes of comments."""

import pytest

from tests.live.entities import (
    HARU,
    MIDORI,
    ROOM_ID,
    SORA,
    YUNA,
    assert_refused,
    comment,
    host_action,
    open_room,
    read_all,
    room,
    uuid,
)
from tests.support.store_reads import eventually
from tests.support.stores import START
from zataku.live.design import comments_after, room_now
from zataku.live.limits import SEQ_START, CommentId, SenderId
from zataku.live.moderation.design import (
    Block,
    LogEntry,
    Upvotes,
    blocks_of,
    log_of,
    marked,
    moderation_of,
    upvoters_of,
    upvotes_in,
    upvotes_on,
)
from zataku.live.moderation.writes import (
    block_sender,
    block_word,
    delete_comment,
    mark_comment,
    pause_room,
    slow_room,
    unblock_word,
    unmark_comment,
)
from zataku.live.writes import (
    close_room,
    post_comments,
    upvote,
    upvote_first,
)
from zataku.table import Store, TransactionCancelled


@pytest.mark.parametrize(
    ("mark", "done", "undone"),
    [("HIDDEN", "HIDE", "SHOW"), ("PINNED", "PIN", "UNPIN"), ("ANSWERED", "ANSWER", "REASK")],
)
async def test_a_host_marks_and_unmarks_a_comment(store: Store, mark: str, done: str, undone: str) -> None:
    epoch = await open_room(store)
    target = comment(1).comment_id
    await assert_refused(store, mark_comment(host_action(1), mark, target, 1))
    await store.write(post_comments([comment(1)], epoch))
    await assert_refused(store, mark_comment(host_action(1, HARU), mark, target, 1))
    stored = await store.write(mark_comment(host_action(1), mark, target, 1))
    await eventually(lambda: read_all(store, marked(ROOM_ID, mark)), [stored])
    await assert_refused(store, mark_comment(host_action(2), mark, target, 1))
    await assert_refused(store, unmark_comment(host_action(2, HARU), mark, target, 1))
    await store.write(unmark_comment(host_action(2), mark, target, 1))
    await eventually(lambda: read_all(store, marked(ROOM_ID, mark)), [])
    await assert_refused(store, unmark_comment(host_action(3), mark, target, 1))
    entries = [(entry.action, entry.subject) for entry in [await _logged(store, 2), await _logged(store, 1)]]
    assert entries == [(undone, target), (done, target)]
    await eventually(lambda: store.count(log_of(ROOM_ID)), 2)


async def _logged(store: Store, number: int) -> LogEntry:
    """The stored log entry of a host's action."""
    action = host_action(number)
    entry = await store.get(LogEntry.key(room_id=ROOM_ID, at=action.at, log_id=action.log_id), strong=True)
    assert entry is not None
    return entry


async def test_the_log_is_read_newest_first(store: Store) -> None:
    epoch = await open_room(store)
    await store.write(pause_room(host_action(1), epoch, True))
    await store.write(pause_room(host_action(2), epoch, False))
    await store.write(slow_room(host_action(10), epoch, 30))
    expected = [await _logged(store, 10), await _logged(store, 2), await _logged(store, 1)]
    assert [(entry.action, entry.subject) for entry in expected] == [("SLOW", "30"), ("RESUME", None), ("PAUSE", None)]
    await eventually(lambda: read_all(store, log_of(ROOM_ID)), expected)


async def test_deleting_a_comment_deletes_its_marks_and_upvotes_and_leaves_a_deletion_mark(store: Store) -> None:
    epoch = await open_room(store)
    target = comment(1).comment_id
    await store.write(post_comments([comment(1)], epoch))
    await store.write(upvote_first(ROOM_ID, target, [YUNA], START, 1))
    marks = ("HIDDEN", "PINNED", "ANSWERED")
    for number, mark in enumerate(marks, 11):
        await store.write(mark_comment(host_action(number), mark, target, 1))
    await assert_refused(store, delete_comment(host_action(1, HARU), target, 1))
    deletion = await store.write(delete_comment(host_action(1), target, 1))
    for mark in marks:
        await eventually(lambda mark=mark: read_all(store, marked(ROOM_ID, mark)), [])
    assert await read_all(store, comments_after(ROOM_ID, SEQ_START)) == []
    assert await store.get(upvotes_on(ROOM_ID, target), strong=True) is None
    await eventually(lambda: read_all(store, marked(ROOM_ID, "DELETED")), [deletion])
    assert (await _logged(store, 1)).action == "DELETE"
    await assert_refused(store, delete_comment(host_action(2), target, 1))
    for plan_of in (upvote, upvote_first):
        await assert_refused(store, plan_of(ROOM_ID, target, [SORA], START, 1))


async def test_in_a_closed_room_the_host_moderates_comments_but_not_the_room(store: Store) -> None:
    epoch = await open_room(store)
    await store.write(post_comments([comment(1)], epoch))
    await store.write(close_room(ROOM_ID, MIDORI, START, 1))
    await assert_refused(store, mark_comment(host_action(1), "HIDDEN", comment(1).comment_id, epoch))
    await store.write(mark_comment(host_action(1), "HIDDEN", comment(1).comment_id, None))
    await store.write(delete_comment(host_action(2), comment(1).comment_id, None))
    await assert_refused(store, pause_room(host_action(3), epoch, True))
    await assert_refused(store, slow_room(host_action(3), epoch, 5))
    await assert_refused(store, block_sender(host_action(3), epoch, SORA, comment(1).comment_id))
    assert (
        await store.get(LogEntry.key(room_id=ROOM_ID, at=host_action(3).at, log_id=host_action(3).log_id), strong=True)
        is None
    )


async def test_a_host_blocks_senders_and_words_and_unblocks_words(store: Store) -> None:
    epoch = await open_room(store)
    await store.write(block_sender(host_action(1), epoch, SORA, comment(1).comment_id))
    await store.write(block_word(host_action(2), epoch, "ＳＰＡＭ"))
    blocks = [
        Block(room_id=ROOM_ID, what="SENDER", value=SORA, at=host_action(1).at, comment_id=comment(1).comment_id),
        Block(room_id=ROOM_ID, what="WORD", value="spam", at=host_action(2).at),
    ]
    assert await read_all(store, blocks_of(ROOM_ID)) == blocks
    await assert_refused(store, block_word(host_action(3), epoch, "Spam"))
    await assert_refused(store, block_word(host_action(3, HARU), epoch, "eggs"))
    await assert_refused(store, block_word(host_action(3), epoch + 1, "eggs"))
    await store.write(unblock_word(host_action(4), epoch, "spam"))
    assert await read_all(store, blocks_of(ROOM_ID)) == blocks[:1]
    await assert_refused(store, unblock_word(host_action(5), epoch, "spam"))
    assert (await _logged(store, 2)).subject == "spam"


async def test_a_setting_that_the_room_already_has_is_refused_and_not_logged(store: Store) -> None:
    epoch = await open_room(store)
    await assert_refused(store, pause_room(host_action(1), epoch, False))
    await assert_refused(store, slow_room(host_action(1), epoch, None))
    await store.write(pause_room(host_action(1), epoch, True))
    await store.write(slow_room(host_action(2), epoch, 10))
    await assert_refused(store, pause_room(host_action(3), epoch, True))
    await assert_refused(store, slow_room(host_action(3), epoch, 10))
    await store.write(slow_room(host_action(4), epoch, 20))
    assert await store.get(room_now(ROOM_ID)) == room(
        epoch=epoch, paused=True, slow_mode_seconds=20, updated_at=host_action(4).at
    )
    await eventually(lambda: store.count(log_of(ROOM_ID)), 3)


async def test_only_the_host_through_the_current_owner_pauses_and_slows_a_room(store: Store) -> None:
    epoch = await open_room(store)
    await assert_refused(store, pause_room(host_action(1, HARU), epoch, True))
    await assert_refused(store, pause_room(host_action(1), epoch + 1, True))
    await store.write(pause_room(host_action(1), epoch, True))
    await store.write(slow_room(host_action(2), epoch, 10))
    assert await store.get(room_now(ROOM_ID)) == room(
        epoch=epoch, paused=True, slow_mode_seconds=10, updated_at=host_action(2).at
    )
    await store.write(pause_room(host_action(3), epoch, False))
    await store.write(slow_room(host_action(4), epoch, None))
    assert await store.get(room_now(ROOM_ID)) == room(epoch=epoch, updated_at=host_action(4).at)
    await store.write(post_comments([comment(1)], epoch))


async def test_one_query_reads_all_moderation_without_the_single_upvotes(store: Store) -> None:
    epoch = await open_room(store)
    target = comment(1).comment_id
    await store.write(post_comments([comment(1)], epoch))
    await store.write(upvote_first(ROOM_ID, target, [YUNA], START, 1))
    await store.write(block_sender(host_action(1), epoch, SORA, comment(1).comment_id))
    await store.write(mark_comment(host_action(2), "PINNED", target, 1))
    await eventually(lambda: _kinds(store), ["Block", "Upvotes", "LogEntry", "LogEntry", "Mark"])


async def _kinds(store: Store) -> list[str]:
    return [type(it).__name__ async for it in store.each(moderation_of(ROOM_ID))]


async def test_an_upvote_counts_once_for_each_session(store: Store) -> None:
    epoch = await open_room(store)
    target = comment(1).comment_id
    await store.write(post_comments([comment(1)], epoch))
    await assert_refused(store, upvote(ROOM_ID, target, [SORA], START, 1))
    await store.write(upvote_first(ROOM_ID, target, [SORA], START, 1))
    await assert_refused(store, upvote_first(ROOM_ID, target, [YUNA], START, 1))
    await store.write(upvote(ROOM_ID, target, [YUNA], START, 1))
    await assert_refused(store, upvote(ROOM_ID, target, [YUNA], START, 1))
    counted = Upvotes(room_id=ROOM_ID, comment_id=target, votes=2)
    assert await store.get(upvotes_on(ROOM_ID, target), strong=True) == counted
    await eventually(lambda: read_all(store, upvotes_in(ROOM_ID)), [counted])
    await eventually(lambda: _voters(store, target), [SORA, YUNA])


async def _voters(store: Store, comment_id: CommentId) -> list[str]:
    return [it.sender_id async for it in store.each(upvoters_of(ROOM_ID, comment_id))]


async def test_the_upvotes_of_a_batch_count_together_and_a_refusal_names_the_sender_who_has_upvoted(
    store: Store,
) -> None:
    epoch = await open_room(store)
    target = comment(1).comment_id
    await store.write(post_comments([comment(1)], epoch))
    await store.write(upvote_first(ROOM_ID, target, [SORA, YUNA, SORA], START, 1))
    crowd = [SenderId(f"guest:{number}") for number in range(5)]
    with pytest.raises(TransactionCancelled) as cancelled:
        await store.write(upvote(ROOM_ID, target, [*crowd[:2], YUNA, *crowd[2:]], START, 1))
    assert [at for at, reason in enumerate(cancelled.value.reasons) if reason.code] == [2]
    await store.write(upvote(ROOM_ID, target, crowd, START, 1))
    assert await store.get(upvotes_on(ROOM_ID, target), strong=True) == Upvotes(
        room_id=ROOM_ID, comment_id=target, votes=7
    )


async def test_an_unknown_comment_and_a_comment_of_a_closed_room_cannot_be_upvoted(store: Store) -> None:
    epoch = await open_room(store)
    await assert_refused(store, upvote_first(ROOM_ID, CommentId(uuid(77)), [SORA], START, 1))
    await store.write(post_comments([comment(1)], epoch))
    await store.write(close_room(ROOM_ID, MIDORI, START, 1))
    await assert_refused(store, upvote_first(ROOM_ID, comment(1).comment_id, [SORA], START, 1))
    assert await store.get(upvotes_on(ROOM_ID, comment(1).comment_id), strong=True) is None
