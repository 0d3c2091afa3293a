"""What a host makes of a room and what people think of questions: lists, acts with their log entries, upvotes."""

import pytest

from tests.live.entities import (
    HALL,
    HARU,
    MIDORI,
    SORA,
    YUNA,
    act,
    all_of,
    opened_room,
    refused,
    room,
    said,
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
async def test_a_host_marks_a_comment_and_takes_it_back(store: Store, mark: str, done: str, undone: str) -> None:
    epoch = await opened_room(store)
    target = said(1).comment_id
    await refused(store, mark_comment(act(1), mark, target, 1))
    await store.write(post_comments([said(1)], epoch))
    await refused(store, mark_comment(act(1, HARU), mark, target, 1))
    made = await store.write(mark_comment(act(1), mark, target, 1))
    await eventually(lambda: all_of(store, marked(HALL, mark)), [made])
    await refused(store, mark_comment(act(2), mark, target, 1))
    await refused(store, unmark_comment(act(2, HARU), mark, target, 1))
    await store.write(unmark_comment(act(2), mark, target, 1))
    await eventually(lambda: all_of(store, marked(HALL, mark)), [])
    await refused(store, unmark_comment(act(3), mark, target, 1))
    told = [(entry.action, entry.subject) for entry in [await _logged(store, 2), await _logged(store, 1)]]
    assert told == [(undone, target), (done, target)]
    await eventually(lambda: store.count(log_of(HALL)), 2)


async def _logged(store: Store, number: int) -> LogEntry:
    """The entry of an act, as it is right now."""
    deed = act(number)
    found = await store.get(LogEntry.key(room_id=HALL, at=deed.at, log_id=deed.log_id), strong=True)
    assert found is not None
    return found


async def test_the_log_comes_newest_first(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(pause_room(act(1), epoch, True))
    await store.write(pause_room(act(2), epoch, False))
    await store.write(slow_room(act(10), epoch, 30))
    wanted = [await _logged(store, 10), await _logged(store, 2), await _logged(store, 1)]
    assert [(entry.action, entry.subject) for entry in wanted] == [("SLOW", "30"), ("RESUME", None), ("PAUSE", None)]
    await eventually(lambda: all_of(store, log_of(HALL)), wanted)


async def test_a_deleted_comment_is_gone_with_its_count_and_leaves_a_mark(store: Store) -> None:
    epoch = await opened_room(store)
    target = said(1).comment_id
    await store.write(post_comments([said(1)], epoch))
    await store.write(upvote_first(HALL, target, [YUNA], START, 1))
    marks = ("HIDDEN", "PINNED", "ANSWERED")
    for number, mark in enumerate(marks, 11):
        await store.write(mark_comment(act(number), mark, target, 1))
    await refused(store, delete_comment(act(1, HARU), target, 1))
    gone = await store.write(delete_comment(act(1), target, 1))
    for mark in marks:
        await eventually(lambda mark=mark: all_of(store, marked(HALL, mark)), [])
    assert await all_of(store, comments_after(HALL, SEQ_START)) == []
    assert await store.get(upvotes_on(HALL, target), strong=True) is None
    await eventually(lambda: all_of(store, marked(HALL, "DELETED")), [gone])
    assert (await _logged(store, 1)).action == "DELETE"
    await refused(store, delete_comment(act(2), target, 1))
    for again in (upvote, upvote_first):
        await refused(store, again(HALL, target, [SORA], START, 1))


async def test_a_host_still_handles_comments_of_a_room_that_is_over_but_not_the_room(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(post_comments([said(1)], epoch))
    await store.write(close_room(HALL, MIDORI, START, 1))
    await refused(store, mark_comment(act(1), "HIDDEN", said(1).comment_id, epoch))
    await store.write(mark_comment(act(1), "HIDDEN", said(1).comment_id, None))
    await store.write(delete_comment(act(2), said(1).comment_id, None))
    await refused(store, pause_room(act(3), epoch, True))
    await refused(store, slow_room(act(3), epoch, 5))
    await refused(store, block_sender(act(3), epoch, SORA, said(1).comment_id))
    assert await store.get(LogEntry.key(room_id=HALL, at=act(3).at, log_id=act(3).log_id), strong=True) is None


async def test_blocks_of_senders_and_words_come_and_go(store: Store) -> None:
    epoch = await opened_room(store)
    await store.write(block_sender(act(1), epoch, SORA, said(1).comment_id))
    await store.write(block_word(act(2), epoch, "ＳＰＡＭ"))
    blocks = [
        Block(room_id=HALL, what="SENDER", value=SORA, at=act(1).at, comment_id=said(1).comment_id),
        Block(room_id=HALL, what="WORD", value="spam", at=act(2).at),
    ]
    assert await all_of(store, blocks_of(HALL)) == blocks
    await refused(store, block_word(act(3), epoch, "Spam"))
    await refused(store, block_word(act(3, HARU), epoch, "eggs"))
    await refused(store, block_word(act(3), epoch + 1, "eggs"))
    await store.write(unblock_word(act(4), epoch, "spam"))
    assert await all_of(store, blocks_of(HALL)) == blocks[:1]
    await refused(store, unblock_word(act(5), epoch, "spam"))
    assert (await _logged(store, 2)).subject == "spam"


async def test_what_is_so_already_is_not_done_and_logged_again(store: Store) -> None:
    epoch = await opened_room(store)
    await refused(store, pause_room(act(1), epoch, False))
    await refused(store, slow_room(act(1), epoch, None))
    await store.write(pause_room(act(1), epoch, True))
    await store.write(slow_room(act(2), epoch, 10))
    await refused(store, pause_room(act(3), epoch, True))
    await refused(store, slow_room(act(3), epoch, 10))
    await store.write(slow_room(act(4), epoch, 20))
    assert await store.get(room_now(HALL)) == room(epoch=epoch, paused=True, slow_mode_seconds=20, updated_at=act(4).at)
    await eventually(lambda: store.count(log_of(HALL)), 3)


async def test_a_room_is_paused_and_slowed_by_its_host_through_its_owner(store: Store) -> None:
    epoch = await opened_room(store)
    await refused(store, pause_room(act(1, HARU), epoch, True))
    await refused(store, pause_room(act(1), epoch + 1, True))
    await store.write(pause_room(act(1), epoch, True))
    await store.write(slow_room(act(2), epoch, 10))
    assert await store.get(room_now(HALL)) == room(epoch=epoch, paused=True, slow_mode_seconds=10, updated_at=act(2).at)
    await store.write(pause_room(act(3), epoch, False))
    await store.write(slow_room(act(4), epoch, None))
    assert await store.get(room_now(HALL)) == room(epoch=epoch, updated_at=act(4).at)
    await store.write(post_comments([said(1)], epoch))


async def test_everything_that_a_host_sees_is_one_query_without_the_single_upvotes(store: Store) -> None:
    epoch = await opened_room(store)
    target = said(1).comment_id
    await store.write(post_comments([said(1)], epoch))
    await store.write(upvote_first(HALL, target, [YUNA], START, 1))
    await store.write(block_sender(act(1), epoch, SORA, said(1).comment_id))
    await store.write(mark_comment(act(2), "PINNED", target, 1))
    await eventually(lambda: _kinds(store), ["Block", "Upvotes", "LogEntry", "LogEntry", "Mark"])


async def _kinds(store: Store) -> list[str]:
    return [type(found).__name__ async for found in store.each(moderation_of(HALL))]


async def test_an_upvote_counts_once_for_each_session(store: Store) -> None:
    epoch = await opened_room(store)
    target = said(1).comment_id
    await store.write(post_comments([said(1)], epoch))
    await refused(store, upvote(HALL, target, [SORA], START, 1))
    await store.write(upvote_first(HALL, target, [SORA], START, 1))
    await refused(store, upvote_first(HALL, target, [YUNA], START, 1))
    await store.write(upvote(HALL, target, [YUNA], START, 1))
    await refused(store, upvote(HALL, target, [YUNA], START, 1))
    counted = Upvotes(room_id=HALL, comment_id=target, votes=2)
    assert await store.get(upvotes_on(HALL, target), strong=True) == counted
    await eventually(lambda: all_of(store, upvotes_in(HALL)), [counted])
    await eventually(lambda: _voters(store, target), [SORA, YUNA])


async def _voters(store: Store, comment_id: CommentId) -> list[str]:
    return [found.sender_id async for found in store.each(upvoters_of(HALL, comment_id))]


async def test_the_upvotes_of_a_tick_count_together_and_a_refusal_names_who_upvoted_before(store: Store) -> None:
    epoch = await opened_room(store)
    target = said(1).comment_id
    await store.write(post_comments([said(1)], epoch))
    await store.write(upvote_first(HALL, target, [SORA, YUNA, SORA], START, 1))
    crowd = [SenderId(f"guest:{number}") for number in range(5)]
    with pytest.raises(TransactionCancelled) as cancelled:
        await store.write(upvote(HALL, target, [*crowd[:2], YUNA, *crowd[2:]], START, 1))
    assert [at for at, reason in enumerate(cancelled.value.reasons) if reason.code] == [2]
    await store.write(upvote(HALL, target, crowd, START, 1))
    assert await store.get(upvotes_on(HALL, target), strong=True) == Upvotes(room_id=HALL, comment_id=target, votes=7)


async def test_nobody_upvotes_what_is_not_there_or_in_a_closed_room(store: Store) -> None:
    epoch = await opened_room(store)
    await refused(store, upvote_first(HALL, CommentId(uuid(77)), [SORA], START, 1))
    await store.write(post_comments([said(1)], epoch))
    await store.write(close_room(HALL, MIDORI, START, 1))
    await refused(store, upvote_first(HALL, said(1).comment_id, [SORA], START, 1))
    assert await store.get(upvotes_on(HALL, said(1).comment_id), strong=True) is None
