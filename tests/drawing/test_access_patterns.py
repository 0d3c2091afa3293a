"""Each access pattern of the drawing game, on every store."""

from msgspec.structs import replace

from tests.drawing.games import NOW, room, seeded_random, store_items
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import assert_query_returns, eventually, read_pages
from zataku.drawing.design import (
    Game,
    ListedGame,
    Seat,
    connection_of,
    games_of_player,
    latest_chat,
    oldest_chat,
    picture_of,
    round_of,
    rounds_of,
    running_games,
    seats_of,
    strokes_of,
    waiting_games,
)
from zataku.drawing.design import game as game_key
from zataku.drawing.limits import GameId
from zataku.drawing.samples import (
    SampleSize,
    a_picture,
    an_id,
    between_rounds,
    chat_in,
    ended,
    in_play,
    seats_in,
    some_strokes,
)
from zataku.table import Store


def other_game(game: Game, **changes: object) -> Game:
    """Another game of the same players."""
    random = seeded_random()
    random.seed(str(changes))
    return replace(game, game_id=GameId(an_id(random)), **changes)


async def test_a_game_is_read_strongly(store: Store):
    game = room()
    await store_items(store, game)
    assert game_key(game.game_id).strong
    assert await store.get(game_key(game.game_id)) == game


async def test_the_games_of_a_player_are_listed_by_their_seats(store: Store):
    first, second = room(), other_game(room(), epoch=5)
    seats = [seat for game in (first, second) for seat in seats_in(game) if isinstance(seat, Seat)]
    host, guest = first.players[0].id, first.players[1].id
    await store_items(
        store, first, second, *(seat for seat in seats if (seat.game_id, seat.player_id) != (second.game_id, guest))
    )
    both = sorted((seat for seat in seats if seat.player_id == host), key=lambda seat: seat.game_id)
    assert len(both) == 2
    await assert_query_returns(store, games_of_player(host), *both)
    await assert_query_returns(store, games_of_player(guest), next(seat for seat in seats if seat.player_id == guest))


async def test_only_public_waiting_rooms_with_players_are_listed_newest_first(store: Store):
    old, new = room(), other_game(room(), created_at=NOW + 1000)
    private = other_game(old, settings=replace(old.settings, public=False))
    empty = other_game(old, players=(), host_id=None)
    playing = in_play(seeded_random(), other_game(old, epoch=7), 1, 1)
    await store_items(store, old, new, private, empty, playing, ended(other_game(old, epoch=8)))
    await assert_query_returns(store, waiting_games(), ListedGame(game_id=new.game_id), ListedGame(game_id=old.game_id))
    listed = [row.game_id async for row in store.each(waiting_games())]
    games = await store.get_many([Game.key(game_id=game_id) for game_id in listed], strong=True)
    assert {stored.game_id for stored in games if stored} <= {new.game_id, old.game_id}


async def test_running_games_are_listed_oldest_first_including_private_ones(store: Store):
    waiting = replace(room(), settings=replace(room().settings, public=False))
    older = in_play(seeded_random(), other_game(waiting, epoch=3), 1, 1)
    newer = in_play(seeded_random(), other_game(waiting, created_at=NOW + 5), 1, 1)
    await store_items(store, waiting, newer, older, ended(other_game(waiting, epoch=9)))
    await assert_query_returns(
        store, running_games(), ListedGame(game_id=older.game_id), ListedGame(game_id=newer.game_id)
    )


async def test_a_game_moves_through_the_index_with_its_status(store: Store):
    game = await store.put(room())
    listed = ListedGame(game_id=game.game_id)
    await assert_query_returns(store, waiting_games(), listed)
    game = await store.save(in_play(seeded_random(), game, 1, 1), was=game)
    await assert_query_returns(store, running_games(), listed)
    await assert_query_returns(store, waiting_games())
    await store.save(ended(game), was=game)
    await assert_query_returns(store, running_games())


async def test_rounds_are_read_in_order_also_after_the_ninth(store: Store):
    game, rounds = room(), []
    for number in (10, 9, 1, 2):
        _, played = between_rounds(seeded_random(), game, number)
        rounds.append(played)
    await store_items(store, game, *rounds, *seats_in(game))
    await assert_query_returns(store, rounds_of(game.game_id), *sorted(rounds, key=lambda played: played.round_number))
    assert await store.get(round_of(game.game_id, 10), strong=True) == rounds[0]
    assert await store.get(round_of(game.game_id, 3), strong=True) is None


async def test_messages_are_read_newest_first_in_pages_of_50(store: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    chat_messages = list(chat_in(seeded_random(), game, SampleSize(messages=120)))
    await store_items(store, game, *chat_messages)
    newest = chat_messages[::-1]
    await assert_query_returns(store, latest_chat(game.game_id), *newest)

    async def first_pages() -> list[object]:
        pages = await read_pages(store, latest_chat(game.game_id), 50)
        return [message for page in pages for message in page]

    await eventually(first_pages, newest)


async def test_messages_are_read_strongly_from_the_oldest(store: Store):
    game = in_play(seeded_random(), room(), 1, 1)
    chat_messages = list(chat_in(seeded_random(), game, SampleSize(messages=12)))
    await store_items(store, *chat_messages)
    assert (await store.page(oldest_chat(game.game_id), limit=3)).items == chat_messages[:3]
    assert [message async for message in store.each(oldest_chat(game.game_id))] == chat_messages


async def test_the_connection_of_a_player_expires_after_24_hours(store: Store, clock: ManualClock):
    game = room()
    await store_items(store, *seats_in(game))
    connection = await store.get(connection_of(game.players[1].id), strong=True)
    assert connection is not None
    assert connection.connection_id == game.players[1].connection_id
    await clock.advance(24 * 60 * 60 + 60)
    assert await store.get(connection_of(game.players[1].id), strong=True) is None


async def test_the_seats_of_a_game_are_listed(store: Store):
    game = room(players=4)
    seats = [seat for seat in seats_in(game) if isinstance(seat, Seat)]
    await store_items(store, game, *seats_in(game))
    await assert_query_returns(store, seats_of(game.game_id), *sorted(seats, key=lambda seat: seat.player_id))


async def test_the_picture_of_a_turn_and_its_parts_are_read_separately(store: Store):
    game = in_play(seeded_random(), room(), 1, 2)
    parts = [some_strokes(seeded_random(), game, number, NOW) for number in (10, 2, 1)]
    earlier_part = replace(parts[0], turn_number=1)
    whole = a_picture(seeded_random(), game, 1, 2, game.players[1].id, NOW, 100 * 1024)
    await store_items(store, game, *parts, earlier_part, whole)
    await assert_query_returns(store, strokes_of(game.game_id, 1, 2), *parts[::-1])
    await assert_query_returns(store, strokes_of(game.game_id, 1, 1), earlier_part)
    assert await store.get(picture_of(game.game_id, 1, 2), strong=True) == whole
    assert await store.get(picture_of(game.game_id, 1, 1), strong=True) is None
    assert game.current_drawing is not None
    assert picture_of(game.game_id, 1, 2).sk == game.current_drawing.data
