"""Who said it: the host is recognised by the server, and people without a nickname by a number of their own."""

import msgspec
import pytest
from msgspec.structs import replace

from tests.live.room.room_commands import (
    MIDORI,
    ROOM_ID,
    SORA,
    command_of,
    execute_all,
    guest,
    open_live_room,
    post_comment,
    reply_summaries,
    snapshot_of,
    stored_comments,
)
from zataku.live.limits import MAX_COMMENTS_PER_WRITE
from zataku.live.messages import CommentView, MarkComment, PostComment
from zataku.live.moderation.design import AnonymousSender, anonymous_senders_in
from zataku.table import Store

NAMED_HOST = replace(MIDORI, name="Midori")


async def test_the_host_is_marked_wherever_a_comment_is_shown(store: Store) -> None:
    live_room = await open_live_room(store)
    commands = [post_comment("welcome", MIDORI, nickname="みどり"), post_comment("hello", nickname="そら")]
    outcome = await execute_all(live_room, await live_room.acquire(ROOM_ID), commands)
    replies = [reply for reply in outcome.replies if isinstance(reply, CommentView)]
    assert [it.host for it in replies] == [True, False]
    events = [msgspec.json.decode(event.body)["comment"] for event in outcome.events]
    assert [it.get("host", False) for it in events] == [True, False]
    pinned = [command_of(MarkComment(comment_id=it.comment_id, mark="PINNED")) for it in replies]
    state = (await execute_all(live_room, outcome.state, pinned)).state
    for held in (state, await live_room.acquire(ROOM_ID)):
        snapshot = await snapshot_of(live_room, held)
        assert [it.host for it in snapshot.comments] == [True, False]
        assert [(it.content, it.host) for it in snapshot.standing.pinned] == [("hello", False), ("welcome", True)]


def test_a_client_cannot_say_that_it_is_the_host() -> None:
    for claim in ({"host": True}, {"anonymousNumber": 1}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"k": "comment", "content": "x", **claim}, type=PostComment)


async def test_the_names_of_the_host_are_refused_to_others_also_by_the_next_owner(store: Store) -> None:
    live_room = await open_live_room(store)
    state = await live_room.acquire(ROOM_ID)
    batch = [post_comment("welcome", NAMED_HOST, nickname="みどり先生"), post_comment("too", nickname="みどり先生")]
    outcome = await execute_all(live_room, state, batch)
    assert reply_summaries(outcome) == ["welcome", "name_of_host"]
    state = outcome.state
    for _ in range(2):
        names = ("midori", "みどり 先生", "そら")
        posing = [post_comment(name, guest(at), nickname=name) for at, name in enumerate(names)]
        assert reply_summaries(await execute_all(live_room, state, posing)) == ["name_of_host", "name_of_host", "そら"]
        state = await live_room.acquire(ROOM_ID)
    as_host = [post_comment("I am", NAMED_HOST, nickname="Host")]
    assert reply_summaries(await execute_all(live_room, state, as_host)) == ["I am"]


async def test_people_without_a_nickname_keep_one_number_each_in_a_room(store: Store) -> None:
    live_room = await open_live_room(store)
    state = await live_room.acquire(ROOM_ID)
    unnamed = [post_comment("a"), post_comment("b", guest(1)), post_comment("c"), post_comment("e", MIDORI)]
    await execute_all(live_room, state, [*unnamed, post_comment("d", guest(1), nickname="そら")])
    for later in (post_comment("f", guest(1)), post_comment("g", guest(2)), post_comment("h", guest(3))):
        await execute_all(live_room, await live_room.acquire(ROOM_ID), [later])
    numbers = {it.content: it.anonymous_number for it in await stored_comments(store)}
    assert numbers == {"a": 1, "b": 2, "c": 1, "d": None, "e": None, "f": 2, "g": 3, "h": 4}
    given = [it.number async for it in store.each(anonymous_senders_in(ROOM_ID))]
    assert sorted(given) == [1, 2, 3, 4]


async def test_a_crowd_without_nicknames_gets_numbers_in_as_many_writes_as_needed(store: Store) -> None:
    live_room = await open_live_room(store)
    crowd = [post_comment(str(at), guest(at)) for at in range(MAX_COMMENTS_PER_WRITE)]
    outcome = await execute_all(live_room, await live_room.acquire(ROOM_ID), crowd)
    assert reply_summaries(outcome) == [str(at) for at in range(MAX_COMMENTS_PER_WRITE)]
    numbers = [it.anonymous_number for it in await stored_comments(store)]
    assert numbers == list(range(1, MAX_COMMENTS_PER_WRITE + 1))


async def test_a_number_reveals_no_session(embedded: Store) -> None:
    live_room = await open_live_room(embedded)
    outcome = await execute_all(live_room, await live_room.acquire(ROOM_ID), [post_comment("a")])
    assert SORA.account_id not in str(await snapshot_of(live_room, outcome.state))
    (sender,) = [it async for it in embedded.each(anonymous_senders_in(ROOM_ID))]
    assert sender == AnonymousSender(room_id=ROOM_ID, sender_id=sender.sender_id, number=1)
