"""The case that each budget describes: stored items and the call to measure."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from tests.drawing.games import (
    NOW,
    TEN,
    create_plan,
    join_plan,
    new_message,
    new_player,
    round_id_of,
    seeded_random,
    settings,
    store_items,
    turn_id_of,
)
from tests.support.cost_assertions import Case
from zataku.drawing import writes
from zataku.drawing.design import (
    Connection,
    Game,
    Seat,
    connection_of,
    drawings_of,
    games_of_player,
    last_message,
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
from zataku.drawing.limits import GameId, RoundId, TurnId
from zataku.drawing.samples import (
    ANSWERS,
    a_message,
    a_picture,
    an_id,
    between_rounds,
    ended,
    in_play,
    ready_room,
    seats_in,
    some_strokes,
)
from zataku.table import Entity, Key, Plan, Query, Store

ROOM = ready_room(seeded_random(), NOW, TEN)
HOST, GUEST = ROOM.players[0], ROOM.players[1]
CHOOSING = in_play(seeded_random(), ROOM, 1, 1, "setting_answer")
DRAWING = in_play(seeded_random(), ROOM, 1, 1)
TURN_OVER = in_play(seeded_random(), ROOM, 1, 1, "finished")
FULL = in_play(seeded_random(), ROOM, 1, 10, "finished")
BETWEEN_ROUNDS, ROUND = between_rounds(seeded_random(), ROOM, 1)
FINISHED = ended(BETWEEN_ROUNDS)
SOON = DRAWING.updated_at + 1000
A_ROUND, A_TURN = RoundId(an_id(seeded_random())), TurnId(an_id(seeded_random()))
SEATS = list(seats_in(ROOM))
CONNECTION = next(item for item in SEATS if isinstance(item, Connection))
SEAT = next(item for item in SEATS if isinstance(item, Seat))
PICTURE = a_picture(seeded_random(), DRAWING, 1, 1, HOST.id, SOON, 100 * 1024)
TURN, KANA = turn_id_of(DRAWING), "あ" * 500
MESSAGES = [a_message(seeded_random(), ROOM, GUEST, n, "あ" * 100, NOW + n) for n in range(1, 51)]
LONG = [a_message(seeded_random(), ROOM, GUEST, n, KANA, NOW + n) for n in range(1, 4)]
STROKES = [some_strokes(seeded_random(), DRAWING, n, SOON + n * 500) for n in range(1, 121)]


def games(count: int, original: Game) -> list[Game]:
    random = seeded_random()
    return [replace(original, game_id=GameId(an_id(random))) for _ in range(count)]


def get_case(key: Key[Any], *items: Entity) -> Case:
    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store_items(store, *items)
        return lambda: store.get(key)

    return case


def page_case(query: Query[Any], *items: Entity, limit: int = 1000) -> Case:
    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store_items(store, *items)
        return lambda: store.page(query, limit=limit)

    return case


def write_case(plan: Plan[Any], *items: Entity) -> Case:
    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store_items(store, *items)
        return lambda: store.write(plan)

    return case


NINE = replace(ROOM, players=ROOM.players[:9])
PRIVATE = replace(ROOM, settings=replace(ROOM.settings, public=False))
SEATS_OF_GUEST = [replace(SEAT, game_id=other.game_id) for other in games(50, ROOM)]
ROUNDS = [replace(ROUND, round_number=number) for number in range(1, 11)]
GAME = ROOM.game_id

CASES: dict[str, Case] = {
    "game": get_case(game_key(GAME), DRAWING),
    "games_of_player": page_case(games_of_player(SEAT.player_id), *SEATS_OF_GUEST),
    "waiting_games": page_case(waiting_games(), *games(50, ROOM)),
    "running_games": page_case(running_games(), *games(50, DRAWING)),
    "rounds_of": page_case(rounds_of(GAME), *ROUNDS),
    "round_of": get_case(round_of(GAME, 1), ROUND),
    "latest_chat": page_case(latest_chat(GAME), *MESSAGES, limit=50),
    "oldest_chat": page_case(oldest_chat(GAME), *LONG, limit=2),
    "last_message": page_case(last_message(GAME), *LONG, limit=1),
    "connection_of": get_case(connection_of(CONNECTION.player_id), CONNECTION),
    "seats_of": page_case(seats_of(GAME), *SEATS),
    "picture_of": get_case(picture_of(GAME, 1, 1), PICTURE),
    "strokes_of": page_case(strokes_of(GAME, 1, 1), *STROKES),
    "drawings_of": page_case(drawings_of(GAME), PICTURE, *(replace(part, turn_number=2) for part in STROKES)),
    "create_game": write_case(create_plan(GAME, HOST, settings(public=True))),
    "take_seat": write_case(join_plan(NINE, replace(new_player(seeded_random()), name=ROOM.players[9].name)), NINE),
    "leave_seat": write_case(writes.leave_seat(ROOM, 1, GUEST.id, SOON), ROOM, *SEATS),
    "kick": write_case(writes.kick(ROOM, 1, HOST.id, GUEST.id, SOON), ROOM, *SEATS),
    "set_ready": write_case(writes.set_ready(ROOM, 1, GUEST.id, "not_ready", SOON), ROOM),
    "change_settings": write_case(writes.change_settings(PRIVATE, 1, HOST.id, ROOM.settings, SOON), PRIVATE),
    "start_game": write_case(writes.start_game(ROOM, 1, HOST.id, A_ROUND, A_TURN, ANSWERS[:3], None, SOON), ROOM),
    "mark_present": write_case(writes.mark_present(DRAWING, 1, GUEST.id, "new-socket", SOON), DRAWING),
    "mark_away": write_case(writes.mark_away(DRAWING, 1, GUEST.id, GUEST.connection_id, SOON), DRAWING),
    "choose_answer": write_case(
        writes.choose_answer(CHOOSING, 1, turn_id_of(CHOOSING), HOST.id, "りんご", "ご", SOON), CHOOSING
    ),
    "reveal_kana": write_case(writes.reveal_kana(DRAWING, 1, TURN, 0, SOON), DRAWING),
    "record_correct_guess": write_case(
        writes.record_correct_guess(DRAWING, 1, TURN, new_message(GUEST), 50, SOON), DRAWING
    ),
    "flush_strokes": write_case(writes.flush_strokes(DRAWING, 1, TURN, 1, STROKES[0].data, SOON)),
    "finish_turn": write_case(writes.finish_turn(DRAWING, 1, TURN, PICTURE.data, 30, SOON), DRAWING),
    "begin_turn": write_case(
        writes.begin_turn(TURN_OVER, 1, turn_id_of(TURN_OVER), A_TURN, GUEST.id, ANSWERS[:3], SOON), TURN_OVER
    ),
    "finish_round": write_case(writes.finish_round(FULL, 1, turn_id_of(FULL), FULL.updated_at), FULL),
    "begin_round": write_case(
        writes.begin_round(
            BETWEEN_ROUNDS,
            1,
            round_id_of(BETWEEN_ROUNDS),
            A_ROUND,
            A_TURN,
            GUEST.id,
            ANSWERS[:3],
            BETWEEN_ROUNDS.updated_at,
        ),
        BETWEEN_ROUNDS,
    ),
    "finish_game": write_case(
        writes.finish_game(BETWEEN_ROUNDS, 1, round_id_of(BETWEEN_ROUNDS), BETWEEN_ROUNDS.updated_at), BETWEEN_ROUNDS
    ),
    "take_room": write_case(writes.take_room(GAME), DRAWING),
    "post_chat": write_case(writes.post_chat(ROOM, 1, new_message(GUEST, content=KANA), SOON)),
    "post_guess": write_case(writes.post_guess(DRAWING, 1, TURN, new_message(GUEST, content=KANA), SOON)),
    "post_notice": write_case(writes.post_notice(ROOM, 1, new_message(GUEST, content=KANA), GUEST.name, SOON)),
    "connect": write_case(writes.connect(CONNECTION)),
    "touch_connection": write_case(
        writes.touch_connection(CONNECTION.player_id, CONNECTION.connection_id, SOON), CONNECTION
    ),
    "disconnect": write_case(writes.disconnect(CONNECTION.player_id, CONNECTION.connection_id), CONNECTION),
    "release_connection": write_case(writes.release_connection(GAME, CONNECTION.player_id, SOON), CONNECTION),
    "keep_round": write_case(writes.keep_round(ROUND), ROUND),
    "keep_picture": write_case(writes.keep_picture(PICTURE), PICTURE),
    "keep_message": write_case(writes.keep_message(LONG[0]), LONG[0]),
    "keep_seat": write_case(writes.keep_seat(SEAT), SEAT),
    "keep_game": write_case(writes.keep_game(FINISHED, 1, HOST.id, FINISHED.updated_at), FINISHED),
}
