"""Limits, cursors, filters and counts."""

import pytest

from tests.support.designs.board import Game, Move, board, games_with, moves_of, newest_games_with, whole_game
from tests.support.designs.measures import Word, words, words_back, words_in, words_narrowed, words_with_note
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import eventually, read_page_by_page, read_pages
from zataku.table import BadCursor, BadInput, Store

ALPHABET = [chr(code) for code in range(ord("a"), ord("z") + 1)]


@pytest.fixture
async def lexicon(open_store) -> Store:
    store = await open_store(words)
    items = [Word(language="en", word=word, note="vowel" if word in "aeiou" else "") for word in ALPHABET]
    await store.write_many(put=[*items, Word(language="de", word="ß")])
    return store


async def cursor_of(store: Store, query, limit: int = 5) -> str:
    page = await store.page(query, limit=limit)
    assert page.cursor is not None
    return page.cursor


@pytest.mark.parametrize("limit", [1, 3, 13, 25, 26, 27, 1000])
async def test_pages_of_every_size_return_each_item_once(lexicon: Store, limit: int):
    assert [entry.word for entry in await read_page_by_page(lexicon, words_in("en"), limit)] == ALPHABET


async def test_pages_are_full_until_the_last(lexicon: Store):
    sizes = [len(page) for page in await read_pages(lexicon, words_in("en"), 10)]
    assert sizes == [10, 10, 6]


async def test_an_empty_partition_is_one_empty_page(lexicon: Store):
    page = await lexicon.page(words_in("fr"))
    assert (page.items, page.cursor) == ([], None)


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_page_limit_below_one_is_refused(lexicon: Store, limit: int):
    with pytest.raises(BadInput, match="1 or more"):
        await lexicon.page(words_in("en"), limit=limit)


async def test_a_cursor_can_be_used_repeatedly(lexicon: Store):
    first = await cursor_of(lexicon, words_in("en"), 3)
    reads = [[entry.word for entry in await _rest(lexicon, words_in("en"), first)] for _ in range(3)]
    assert reads[0] == reads[1] == reads[2]
    assert reads[0] == ALPHABET[len(ALPHABET) - len(reads[0]) :]


async def _rest(store: Store, query, after: str | None) -> list:
    items = []
    while after is not None:
        page = await store.page(query, limit=7, after=after)
        items += page.items
        after = page.cursor
    return items


async def test_a_cursor_stays_valid_when_its_item_is_deleted(lexicon: Store):
    page = await lexicon.page(words_in("en"), limit=5)
    last = page.items[-1].word
    await lexicon.delete(Word.key(language="en", word=last))
    rest = await _rest(lexicon, words_in("en"), page.cursor)
    assert [entry.word for entry in rest] == ALPHABET[ALPHABET.index(last) + 1 :]


async def test_items_written_between_two_pages_do_not_shift_them(lexicon: Store):
    page = await lexicon.page(words_in("en"), limit=5)
    await lexicon.put(Word(language="en", word="A"))
    await lexicon.put(Word(language="en", word="zz"))
    rest = await _rest(lexicon, words_in("en"), page.cursor)
    assert [entry.word for entry in [*page.items, *rest]] == [*ALPHABET, "zz"]


async def test_a_cursor_survives_closing_and_opening(open_store):
    store = await open_store(words)
    await store.write_many(put=[Word(language="en", word=word) for word in ALPHABET])
    page = await store.page(words_in("en"), limit=5)
    await store.close()
    reopened = await open_store(words)
    rest = await _rest(reopened, words_in("en"), page.cursor)
    assert [entry.word for entry in [*page.items, *rest]] == ALPHABET


async def test_a_cursor_is_refused_when_any_character_of_it_changes(lexicon: Store):
    cursor = await cursor_of(lexicon, words_in("en"))
    for at, character in enumerate(cursor):
        for wrong in "A-é":
            if wrong != character:
                with pytest.raises(BadCursor):
                    await lexicon.page(words_in("en"), after=cursor[:at] + wrong + cursor[at + 1 :])


async def test_a_cursor_is_refused_when_it_is_longer_or_shorter(lexicon: Store):
    cursor = await cursor_of(lexicon, words_in("en"))
    for wrong in ("", " ", "=", cursor[:-1], cursor[1:], cursor + "A", cursor + "=", cursor + cursor, "\0", "ß" * 40):
        with pytest.raises(BadCursor) as refused:
            await lexicon.page(words_in("en"), after=wrong)
        assert refused.value.code == "bad_cursor"
        assert "first page" in refused.value.message


async def test_a_cursor_of_another_query_is_refused(lexicon: Store):
    cursor = await cursor_of(lexicon, words_in("en"))
    for other in (
        words_in("de"),
        words_back("en"),
        words_narrowed("en", "since", "a", ""),
        words_with_note("en", ""),
    ):
        with pytest.raises(BadCursor):
            await lexicon.page(other, after=cursor)


async def test_a_cursor_of_other_arguments_is_refused(lexicon: Store):
    cursor = await cursor_of(lexicon, words_narrowed("en", "since", "a", ""))
    for other in (
        words_narrowed("en", "since", "b", ""),
        words_narrowed("en", "after", "a", ""),
        words_with_note("en", "vowel"),
    ):
        with pytest.raises(BadCursor):
            await lexicon.page(other, after=cursor)
    filtered = await cursor_of(lexicon, words_with_note("en", ""))
    with pytest.raises(BadCursor):
        await lexicon.page(words_with_note("en", "vowel"), after=filtered)


async def test_a_cursor_of_another_secret_is_refused(open_store):
    store = await open_store(words, secret=b"1" * 32)
    await store.write_many(put=[Word(language="en", word=word) for word in ALPHABET])
    cursor = await cursor_of(store, words_in("en"))
    await store.close()
    other = await open_store(words, secret=b"2" * 32)
    with pytest.raises(BadCursor):
        await other.page(words_in("en"), after=cursor)
    await other.close()
    same = await open_store(words, secret=b"1" * 32)
    assert (await same.page(words_in("en"), after=cursor)).items


async def test_a_filter_leaves_items_out_of_pages_and_counts(lexicon: Store):
    query = words_with_note("en", "vowel")
    for limit in (1, 2, 5, 50):
        assert [entry.word for entry in await read_page_by_page(lexicon, query, limit)] == list("aeiou")
    assert [entry.word async for entry in lexicon.each(query)] == list("aeiou")
    assert await lexicon.count(query) == 5
    assert await lexicon.first(query) == Word(language="en", word="a", note="vowel")


async def test_first_reads_on_until_an_item_passes_the_filter(lexicon: Store):
    await lexicon.write_many(put=[Word(language="long", word=f"{number:03d}") for number in range(120)])
    needle = await lexicon.put(Word(language="long", word="999", note="needle"))
    assert await lexicon.first(words_with_note("long", "needle")) == needle
    assert await lexicon.first(words_with_note("long", "nothing")) is None


async def test_first_returns_the_first_item_in_either_direction(lexicon: Store):
    first, last = await lexicon.first(words_in("en")), await lexicon.first(words_back("en"))
    assert first is not None
    assert last is not None
    assert (first.word, last.word) == ("a", "z")
    assert await lexicon.first(words_in("fr")) is None


async def test_a_count_covers_the_whole_range_of_a_query(lexicon: Store):
    assert await lexicon.count(words_in("en")) == 26
    assert await lexicon.count(words_narrowed("en", "between", "c", "f")) == 4
    assert await lexicon.count(words_in("fr")) == 0


async def test_pages_and_counts_read_past_one_megabyte(lexicon: Store):
    large = [Word(language="large", word=f"{number:02d}", note="x" * 150_000) for number in range(16)]
    await lexicon.write_many(put=large)
    assert [entry async for entry in lexicon.each(words_in("large"))] == large
    assert await read_page_by_page(lexicon, words_in("large"), 12) == large
    assert await lexicon.count(words_in("large")) == 16


async def test_a_global_index_is_paged_in_both_directions(store: Store):
    games = [Game(game_id=f"g{number}", created_at=f"2025-01-{number:02d}") for number in range(1, 21)]
    await store.write_many(put=games)
    for limit in (1, 6, 50):
        await eventually(lambda limit=limit: read_page_by_page(store, games_with("ACTIVE"), limit), games)
        await eventually(lambda limit=limit: read_page_by_page(store, newest_games_with("ACTIVE"), limit), games[::-1])
    await eventually(lambda: store.count(games_with("ACTIVE")), 20)


async def test_pages_skip_expired_items_and_lose_none_after_them(store: Store, clock: ManualClock):
    soon = int(clock.now()) + 10
    moves = [Move(game_id="g1", turn_number=at, expires_at=soon if 5 <= at < 95 else None) for at in range(100)]
    await store.write_many(put=moves)
    await clock.advance(11)
    unexpired = [move for move in moves if move.expires_at is None]
    for limit in (1, 3, 40):
        assert await read_page_by_page(store, moves_of("g1"), limit) == unexpired
    assert [move async for move in store.each(moves_of("g1"))] == unexpired
    assert await store.first(moves_of("g1")) == moves[0]


async def test_a_query_returns_several_entities_in_one_order(store: Store):
    game = Game(game_id="g1", note="the game")
    moves = [Move(game_id="g1", turn_number=number) for number in range(1, 12)]
    await store.write_many(put=[*moves, game, Move(game_id="g2", turn_number=1)])
    for limit in (1, 5, 100):
        assert await read_page_by_page(store, whole_game("g1"), limit) == [game, *moves]


async def test_padded_numbers_sort_by_value(store: Store):
    await store.write_many(put=[Move(game_id="g1", turn_number=number) for number in (10, 9, 2, 100, 1)])
    assert [move.turn_number async for move in store.each(moves_of("g1"))] == [1, 2, 9, 10, 100]


async def test_two_tables_do_not_mix_their_pages(open_store):
    store = await open_store(words, board)
    await store.put(Word(language="GAME#g1", word="MOVE#001"))
    assert [move async for move in store.each(moves_of("g1"))] == []
