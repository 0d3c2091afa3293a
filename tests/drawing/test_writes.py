"""What may happen at a table, and what is refused before anything is written."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.contract.asking import finds
from tests.drawing.table_games import NOW, chance, kept, loaded, newcomer, right_guess, room, settings
from zataku.drawing import writes
from zataku.drawing.design import (
    ChatMessage,
    Connection,
    Game,
    Picture,
    Seat,
    connection_of,
    latest_chat,
    picture_of,
    round_of,
)
from zataku.drawing.errors import NoSeat, NotNow, NotYours, Refused, RoomTaken
from zataku.drawing.limits import AFTERWARDS_SECONDS, CONNECTION_SECONDS, KEPT_SECONDS, GameId, RoundId, TurnId
from zataku.drawing.samples import (
    ANSWERS,
    Measure,
    a_message,
    a_picture,
    an_id,
    between_rounds,
    chat_in,
    ended,
    in_play,
    seats_in,
    settled_room,
    some_strokes,
)
from zataku.table import ConditionFailed, Plan, Store, TransactionCancelled

LATER = NOW + 100_000
A_ROUND, A_TURN = RoundId(an_id(chance())), TurnId(an_id(chance()))
WAITING = room()
HOST, GUEST, THIRD = (player.id for player in WAITING.players)
DRAWING = in_play(chance(), WAITING, 1, 1)
CHOOSING = in_play(chance(), WAITING, 1, 1, "setting_answer")
OVER = in_play(chance(), WAITING, 1, 1, "finished")
PAUSING, FIRST_ROUND = between_rounds(chance(), WAITING, 1)
FINISHED = ended(PAUSING)
SOON = DRAWING.updated_at + 1000


def a_guess(by: int = 1, now: int = SOON) -> ChatMessage:
    return right_guess(DRAWING, DRAWING.players[by], now)


def drawn(turn: int = 1) -> Picture:
    return a_picture(chance(), DRAWING, 1, turn, HOST, SOON, 400)


def started(game: Game, by: str = HOST) -> Plan[Game]:
    return writes.start_game(game, 1, by, A_ROUND, A_TURN, ANSWERS[:3], LATER)


def unready(game: Game) -> Game:
    return replace(game, players=(*game.players[:-1], replace(game.players[-1], status="not_ready")))


REFUSED: dict[str, tuple[type[Refused], Callable[[], object]]] = {
    "an owner who lost the room": (RoomTaken, lambda: writes.set_ready(WAITING, 0, GUEST, "ready", LATER)),
    "a change to a game that has expired": (
        NotNow,
        lambda: writes.set_ready(WAITING, 1, GUEST, "ready", NOW + 24 * 60 * 60 * 1000),
    ),
    "a seat at a full table": (NoSeat, lambda: writes.take_seat(room(4, 4), 1, newcomer(chance()))),
    "a second seat": (NoSeat, lambda: writes.take_seat(WAITING, 1, WAITING.players[1])),
    "a seat in a game under way": (NotNow, lambda: writes.take_seat(DRAWING, 1, newcomer(chance()))),
    "leaving where one does not sit": (NotYours, lambda: writes.leave_seat(WAITING, 1, newcomer(chance()).id, LATER)),
    "leaving a finished game": (NotNow, lambda: writes.leave_seat(FINISHED, 1, GUEST, FINISHED.updated_at)),
    "a guest who kicks": (NotYours, lambda: writes.kick(WAITING, 1, GUEST, THIRD, LATER)),
    "a host who kicks themselves": (NotNow, lambda: writes.kick(WAITING, 1, HOST, HOST, LATER)),
    "ready in a game under way": (NotNow, lambda: writes.set_ready(DRAWING, 1, GUEST, "ready", SOON)),
    "settings by a guest": (NotYours, lambda: writes.change_settings(WAITING, 1, GUEST, settings(), LATER)),
    "fewer seats than players": (
        NoSeat,
        lambda: writes.change_settings(WAITING, 1, HOST, settings(player_count=2), LATER),
    ),
    "settings of a game under way": (NotNow, lambda: writes.change_settings(DRAWING, 1, HOST, settings(), SOON)),
    "a start by a guest": (NotYours, lambda: started(WAITING, GUEST)),
    "a start alone": (NotNow, lambda: started(replace(WAITING, players=WAITING.players[:1]))),
    "a start before all are ready": (NotNow, lambda: started(unready(WAITING))),
    "a second start": (NotNow, lambda: started(DRAWING)),
    "a word by a guesser": (NotYours, lambda: writes.choose_answer(CHOOSING, 1, GUEST, "りんご", None, SOON)),
    "a second word": (NotNow, lambda: writes.choose_answer(DRAWING, 1, HOST, "りんご", None, SOON)),
    "a hint beyond the word": (NotNow, lambda: writes.reveal_kana(DRAWING, 1, 50, SOON)),
    "a hint while nobody draws": (NotNow, lambda: writes.reveal_kana(CHOOSING, 1, 0, SOON)),
    "a guess by the drawer": (NotYours, lambda: writes.guess_right(DRAWING, 1, a_guess(0), 50, SOON)),
    "a guess after time is up": (NotNow, lambda: writes.guess_right(DRAWING, 1, a_guess(), 50, SOON + 60_000)),
    "a guess while nobody draws": (NotNow, lambda: writes.guess_right(CHOOSING, 1, a_guess(), 50, SOON)),
    "a wrong guess as a right one": (
        NotNow,
        lambda: writes.guess_right(DRAWING, 1, replace(a_guess(), type="guess"), 50, SOON),
    ),
    "a guess in another game": (
        NotNow,
        lambda: writes.guess_right(DRAWING, 1, replace(a_guess(), game_id=GameId(A_TURN)), 50, SOON),
    ),
    "the picture of another turn": (NotNow, lambda: writes.finish_turn(DRAWING, 1, drawn(2), None, SOON)),
    "a second end of a turn": (NotNow, lambda: writes.finish_turn(OVER, 1, drawn(), None, SOON)),
    "a turn before the last is over": (
        NotNow,
        lambda: writes.begin_turn(DRAWING, 1, A_TURN, GUEST, ANSWERS[:3], SOON),
    ),
    "a second turn in a round": (NotYours, lambda: writes.begin_turn(OVER, 1, A_TURN, HOST, ANSWERS[:3], SOON)),
    "a turn of nobody at the table": (
        NotYours,
        lambda: writes.begin_turn(OVER, 1, A_TURN, newcomer(chance()).id, ANSWERS[:3], SOON),
    ),
    "the end of a round amid a turn": (NotNow, lambda: writes.finish_round(DRAWING, 1, SOON)),
    "a second end of a round": (NotNow, lambda: writes.finish_round(PAUSING, 1, PAUSING.updated_at)),
    "a round before the last is over": (
        NotNow,
        lambda: writes.begin_round(OVER, 1, A_ROUND, A_TURN, HOST, ANSWERS[:3], SOON),
    ),
    "a round too many": (
        NotNow,
        lambda: writes.begin_round(
            replace(PAUSING, settings=replace(PAUSING.settings, round_count=1)),
            1,
            A_ROUND,
            A_TURN,
            HOST,
            ANSWERS[:3],
            PAUSING.updated_at,
        ),
    ),
    "the end of a game amid a round": (NotNow, lambda: writes.finish_game(OVER, 1, SOON)),
    "the end of a game that waits": (NotNow, lambda: writes.finish_game(WAITING, 1, LATER)),
    "keeping a game under way": (NotNow, lambda: writes.keep_game(DRAWING, 1, HOST, SOON)),
    "keeping somebody else's game": (
        NotYours,
        lambda: writes.keep_game(FINISHED, 1, newcomer(chance()).id, FINISHED.updated_at),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str):
    kind, attempt = REFUSED[what]
    with pytest.raises(kind) as refused:
        attempt()
    assert refused.value.message.endswith(".")


def test_a_player_who_has_guessed_and_a_drawer_who_was_understood_get_nothing_more():
    plan = writes.guess_right(DRAWING, 1, a_guess(), 50, SOON)
    known = plan.steps[0].entity
    with pytest.raises(NotNow, match="already"):
        writes.guess_right(known, 1, a_guess(), 40, SOON)
    with pytest.raises(NotNow, match="loses nothing"):
        writes.finish_turn(known, 1, None, 30, SOON)


async def test_a_game_from_the_first_seat_to_the_last_picture(store: Store):
    host, guest = (replace(player, status="not_ready") for player in room(2, 2).players)
    game_id, chosen = GameId(an_id(chance())), settings(player_count=2, round_count=2, public=True)
    table = await store.write(writes.create_game(game_id, host, chosen))
    assert table
    assert table.ttl == NOW // 1000 + 24 * 60 * 60
    table = await store.write(writes.take_room(game_id))
    assert table
    assert table.epoch == 1
    table = await store.write(writes.take_seat(table, 1, guest))
    for player in (host, guest):
        table = await store.write(writes.set_ready(table, 1, player.id, "ready", LATER))
    table = await store.write(writes.change_settings(table, 1, host.id, replace(chosen, time_limit=30), LATER))
    table = await store.write(started(table, host.id))
    assert table.ttl == LATER // 1000 + KEPT_SECONDS
    assert table.current_round.current_turn.deadline == LATER + 45_000

    table = await store.write(writes.choose_answer(table, 1, host.id, "りんご", "ご", SOON))
    assert table.current_round.current_turn.deadline == SOON + 30_000
    assert (table.current_drawing.data, table.next_kana) == ("DRAWING#01#01", "ご")
    await store.write(writes.flush_strokes(some_strokes(chance(), table, 1, SOON)))
    table = await store.write(writes.reveal_kana(table, 1, 0, SOON))
    said = right_guess(table, guest, SOON + 1)
    table = await store.write(writes.guess_right(table, 1, said, 20, SOON + 1))
    assert [player.total for player in table.players] == [20, 20]
    picture = a_picture(chance(), table, 1, 1, host.id, SOON, 400)
    table = await store.write(writes.finish_turn(table, 1, picture, None, SOON + 2))
    assert table.current_drawing is None

    table = await store.write(writes.begin_turn(table, 1, A_TURN, guest.id, ANSWERS[:3], SOON + 3))
    table = await store.write(writes.choose_answer(table, 1, guest.id, "ごりら", "ら", SOON + 4))
    table = await store.write(writes.finish_turn(table, 1, None, 15, SOON + 5))
    assert [player.total for player in table.players] == [20, 5]
    assert len(table.score_histories) == 3
    table = await store.write(writes.finish_round(table, 1, SOON + 6))
    assert (table.score_histories, table.current_round.turns) == ((), None)

    round_ = await store.get(round_of(game_id, 1), strong=True)
    assert [turn.answer for turn in round_.turns] == ["りんご", "ごりら"]
    assert [turn.final_drawing for turn in round_.turns] == ["DRAWING#01#01", None]
    assert [score.points for score in round_.round_scores] == [20, 5]
    assert [entry.signed for entry in round_.score_histories] == [20, 20, -15]
    table = await store.write(writes.begin_round(table, 1, A_ROUND, A_TURN, guest.id, ANSWERS[:3], SOON + 7))
    assert table.current_round.round_number == 2
    table = await store.write(writes.finish_round(table, 1, SOON + 8))
    table = await store.write(writes.finish_game(table, 1, SOON + 9))
    assert (table.status, table.ttl) == ("finished", (SOON + 9) // 1000 + AFTERWARDS_SECONDS)
    assert await loaded(store, table) == table
    assert await store.get(picture_of(game_id, 1, 1), strong=True) == picture
    await finds(store, latest_chat(game_id), said)


async def test_leaving_frees_the_seat_and_hands_over_to_whoever_sat_down_first(store: Store):
    table = await store.put(room())
    await kept(store, *seats_in(table))
    table = await store.write(writes.leave_seat(table, 1, HOST, LATER))
    assert ([player.id for player in table.players], table.host_id) == ([GUEST, THIRD], GUEST)
    assert await store.get(Seat.key(game_id=table.game_id, player_id=HOST), strong=True) is None
    table = await store.write(writes.kick(table, 1, GUEST, THIRD, LATER + 1))
    table = await store.write(writes.leave_seat(table, 1, GUEST, LATER + 2))
    assert (table.players, table.host_id, table.listed) == ((), None, None)
    back = newcomer(chance(), after=200_000)
    table = await store.write(writes.take_seat(table, 1, back))
    assert (table.host_id, table.listed) == (back.id, "waiting")


async def test_who_leaves_a_game_under_way_keeps_name_and_points(store: Store):
    table = await store.put(DRAWING)
    table = await store.write(writes.leave_seat(table, 1, HOST, SOON))
    assert (table.players[0].left_at, table.host_id, len(table.players)) == (SOON, GUEST, 3)
    with pytest.raises(NotYours):
        writes.note_presence(table, 1, HOST, "new-socket", SOON)


async def test_a_lost_connection_keeps_the_seat_and_the_moment_of_the_loss(store: Store):
    table = await store.put(DRAWING)
    table = await store.write(writes.note_presence(table, 1, GUEST, None, SOON))
    table = await store.write(writes.note_presence(table, 1, GUEST, None, SOON + 5))
    assert (table.players[1].away_since, table.players[1].connection_id) == (SOON, None)
    table = await store.write(writes.note_presence(table, 1, GUEST, "new-socket", SOON + 9))
    assert (table.players[1].away_since, table.players[1].connection_id) == (None, "new-socket")


async def test_a_connection_is_touched_and_closed_by_itself_only(store: Store):
    made = next(each for each in seats_in(WAITING) if isinstance(each, Connection))
    mine = (made.player_id, made.connection_id)
    await store.write(writes.connect(made))
    touched = await store.write(writes.touch_connection(*mine, LATER))
    assert (touched.last_active_at, touched.ttl) == (LATER, LATER // 1000 + CONNECTION_SECONDS)
    await store.write(writes.connect(replace(made, connection_id="newer")))
    for late in (writes.touch_connection(*mine, LATER + 1), writes.disconnect(*mine)):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    await store.write(writes.disconnect(made.player_id, "newer"))
    assert await store.get(connection_of(made.player_id), strong=True) is None


async def test_a_message_or_a_part_of_a_picture_is_never_replaced(store: Store):
    message, part = (
        a_message(chance(), DRAWING, DRAWING.players[1], 1, "a", SOON),
        some_strokes(chance(), DRAWING, 1, SOON),
    )
    await store.write(writes.post_chat(message))
    await store.write(writes.flush_strokes(part))
    for again in (writes.post_chat(replace(message, content="b")), writes.flush_strokes(replace(part, data="QQ=="))):
        with pytest.raises(ConditionFailed):
            await store.write(again)


async def test_a_room_is_opened_once(store: Store):
    host = replace(newcomer(chance()), connection_id=None)
    plan = writes.create_game(WAITING.game_id, host, settings())
    assert len(plan.steps) == 2
    await store.write(plan)
    with pytest.raises(TransactionCancelled):
        await store.write(writes.create_game(WAITING.game_id, newcomer(chance(), "other"), settings()))
    assert [player.name for player in (await loaded(store, WAITING)).players] == [host.name]


async def test_a_kept_game_and_its_children_do_not_expire(store: Store):
    measure = Measure(players=2, messages=3)
    table, played = between_rounds(chance(), settled_room(chance(), NOW, measure), 1)
    table = ended(table)
    seats = [seat for seat in seats_in(table) if isinstance(seat, Seat)]
    said = list(chat_in(chance(), table, NOW, measure))
    picture = a_picture(chance(), table, 1, 1, table.players[0].id, NOW, 40)
    await kept(store, table, played, picture, *seats, *said)
    for _ in range(2):
        plans = [writes.keep_round(played), writes.keep_picture(picture)]
        plans += [*map(writes.keep_seat, seats), *map(writes.keep_message, said)]
        for plan in plans:
            child = await store.write(plan)
            assert child is not None
            assert child.ttl is None
    table = await store.write(writes.keep_game(table, 1, table.players[1].id, table.updated_at))
    assert table
    assert table.ttl is None
    # Whoever keeps it again changes nothing.
    assert (await store.write(writes.keep_game(table, 1, table.players[0].id, table.updated_at))).ttl is None
