"""The stream consumer that keeps at most 1,000 messages per game."""

from random import Random

import pytest
from msgspec.structs import replace

from tests.drawing.games import NOW, room, seeded_random, store_items
from tests.support.store_reads import drain
from zataku.drawing import jobs
from zataku.drawing.design import ChatMessage, Game, esiritori, oldest_chat
from zataku.drawing.jobs import CONSUMER, cap_chat
from zataku.drawing.limits import MAX_CHAT_MESSAGES, GameId
from zataku.drawing.samples import a_message, an_id, seats_in
from zataku.table import Change, Store


@pytest.fixture
def cap(monkeypatch: pytest.MonkeyPatch) -> int:
    """A cap of 20, so that a test need not write 1,000 messages."""
    monkeypatch.setattr(jobs, "MAX_CHAT_MESSAGES", 20)
    return 20


def chat_messages(game: Game, first: int, last: int) -> list[ChatMessage]:
    random = Random(first)
    return [a_message(random, game, game.players[0], n, f"{n}番目", NOW + n * 10) for n in range(first, last + 1)]


def insert_changes(*messages: ChatMessage) -> list[Change]:
    return [Change("INSERT", 0.0, None, message, False, str(message.number), {}) for message in messages]


async def stored_numbers(store: Store, game: Game) -> list[int | None]:
    return [message.number async for message in store.each(oldest_chat(game.game_id))]


def test_the_cap_on_messages_is_that_of_the_document():
    assert jobs.MAX_CHAT_MESSAGES == MAX_CHAT_MESSAGES == 1000


async def test_the_stream_keeps_every_game_at_its_cap(store: Store, cap: int):
    busy = room()
    quiet = replace(busy, game_id=GameId(an_id(seeded_random())))
    await store_items(store, busy, *seats_in(busy), *chat_messages(quiet, 1, cap))
    stream = store.stream(esiritori, CONSUMER)
    await cap_chat(store, await drain(stream))
    for first in range(1, 60, 7):
        await store.write_many(put=chat_messages(busy, first, first + 6))
        await cap_chat(store, await drain(stream))
        assert len(await stored_numbers(store, busy)) <= cap
    assert await stored_numbers(store, busy) == list(range(44, 64))
    assert len(await stored_numbers(store, quiet)) == cap


async def test_duplicate_numbers_exceed_the_cap_only_until_they_are_too_old(store: Store, cap: int):
    game, random = room(), Random(7)
    # Both servers post in turn; the one that lost the room stops after ten messages.
    duplicates = [
        replace(message, id=an_id(random), created_at=message.created_at + 5) for message in chat_messages(game, 16, 25)
    ]
    for last in range(5, 55, 5):
        new = [
            *chat_messages(game, last - 4, last),
            *(message for message in duplicates if last - 4 <= (message.number or 0) <= last),
        ]
        await store_items(store, *new)
        await cap_chat(store, insert_changes(*new))
        assert len(await stored_numbers(store, game)) <= cap + len(duplicates)
    assert await stored_numbers(store, game) == list(range(31, 51))


async def test_repeated_changes_remove_nothing_more(store: Store, cap: int):
    game = room()
    messages = chat_messages(game, 1, cap + 5)
    await store_items(store, *messages)
    assert await cap_chat(store, insert_changes(*messages)) == 5
    assert await cap_chat(store, insert_changes(*messages)) == 0
    assert await cap_chat(store, insert_changes(*messages[:10])) == 0
    assert await stored_numbers(store, game) == list(range(6, cap + 6))


async def test_a_consumer_that_was_stopped_catches_up_over_many_pages(store: Store, cap: int):
    game = room()
    messages = chat_messages(game, 1, 260)
    await store_items(store, *messages)
    assert await cap_chat(store, insert_changes(messages[-1])) == 240
    assert len(await stored_numbers(store, game)) == cap


async def test_nothing_is_read_before_the_cap_and_two_messages_for_each_one_beyond(priced: Store):
    game = room()
    await store_items(priced, *chat_messages(game, 1, 30))
    with priced.measured("below") as below:
        await cap_chat(priced, insert_changes(*chat_messages(game, 999, 1000)))
    assert (below.reads, below.writes) == (0, 0)
    with priced.measured("beyond") as beyond:
        assert await cap_chat(priced, insert_changes(*chat_messages(game, 1001, 1001))) == 1
    assert (beyond.reads, beyond.writes) == (1, 1)


async def test_messages_without_a_number_and_removals_are_ignored(store: Store, cap: int):
    game = room()
    messages = chat_messages(game, 1, cap + 3)
    await store_items(store, *messages)
    removed = [Change("REMOVE", 0.0, message, None, False, "", {}) for message in messages]
    unnumbered = insert_changes(*(replace(message, number=None) for message in messages))
    assert await cap_chat(store, [*removed, *unnumbered]) == 0
    assert len(await stored_numbers(store, game)) == cap + 3
