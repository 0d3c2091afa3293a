"""The writes of the drawing game, and the items they store."""

import pytest
from msgspec.structs import replace

from tests.drawing.games import (
    NOW,
    create_plan,
    join_plan,
    load_game,
    new_message,
    new_player,
    room,
    round_id_of,
    seeded_random,
    settings,
    store_items,
    turn_id_of,
)
from tests.drawing.plans import (
    A_TURN,
    DATA,
    DRAWING,
    GUEST,
    HOST,
    MUCH_LATER,
    SOON,
    THIRD,
    TURN,
    WAITING,
    begin_round_plan,
    begin_turn_plan,
    start_plan,
)
from tests.support.store_reads import assert_query_returns
from zataku.drawing import writes
from zataku.drawing.design import (
    ChatMessage,
    Connection,
    Seat,
    connection_of,
    last_message,
    latest_chat,
    picture_of,
    round_of,
    strokes_of,
)
from zataku.drawing.errors import NotAllowed, WrongState
from zataku.drawing.limits import CONNECTION_SECONDS, FINISHED_GAME_SECONDS, RETENTION_SECONDS, GameId
from zataku.drawing.samples import (
    SampleSize,
    a_picture,
    an_id,
    between_rounds,
    chat_in,
    ended,
    ready_room,
    seats_in,
)
from zataku.table import ConditionFailed, Store, TransactionCancelled


async def test_a_game_from_the_first_seat_to_the_last_picture(store: Store):
    host, guest = (replace(player, status="not_ready") for player in room(2, 2).players)
    game_id, chosen = GameId(an_id(seeded_random())), settings(player_count=2, round_count=2, public=True)
    game = await store.write(create_plan(game_id, host, chosen))
    assert game
    assert game.ttl == NOW // 1000 + 24 * 60 * 60
    game = await store.write(writes.take_room(game_id))
    assert game
    assert game.epoch == 1
    game = await store.write(join_plan(game, guest))
    for player in (host, guest):
        game = await store.write(writes.set_ready(game, 1, player.id, "ready", MUCH_LATER))
    game = await store.write(writes.change_settings(game, 1, host.id, replace(chosen, time_limit=30), MUCH_LATER))
    game = await store.write(start_plan(game, host.id))
    assert game.ttl == MUCH_LATER // 1000 + RETENTION_SECONDS
    assert game.current_round.current_turn.deadline == MUCH_LATER + 45_000

    game = await store.write(writes.choose_answer(game, 1, turn_id_of(game), host.id, "りんご", "ご", SOON))
    assert game.current_round.current_turn.deadline == SOON + 30_000
    assert (game.current_drawing.data, game.next_kana) == ("DRAWING#01#01", "ご")
    part = await store.write(writes.flush_strokes(game, 1, turn_id_of(game), 1, DATA, SOON))
    assert (part.drawer_id, part.epoch, part.ttl) == (host.id, 1, SOON // 1000 + RETENTION_SECONDS)
    game = await store.write(writes.reveal_kana(game, 1, turn_id_of(game), 0, SOON))
    message = new_message(guest)
    game = await store.write(writes.record_correct_guess(game, 1, turn_id_of(game), message, 20, SOON + 1))
    assert [player.total for player in game.players] == [20, 20]
    game = await store.write(writes.finish_turn(game, 1, turn_id_of(game), DATA, None, SOON + 2))
    assert game.current_drawing is None

    game = await store.write(begin_turn_plan(game, guest.id, SOON + 3))
    game = await store.write(writes.choose_answer(game, 1, turn_id_of(game), guest.id, "ごりら", "ら", SOON + 4))
    game = await store.write(writes.finish_turn(game, 1, turn_id_of(game), None, 15, SOON + 5))
    assert [player.total for player in game.players] == [20, 5]
    assert len(game.score_histories) == 3
    game = await store.write(writes.finish_round(game, 1, turn_id_of(game), SOON + 6))
    assert (game.score_histories, game.current_round.turns) == ((), None)

    round_ = await store.get(round_of(game_id, 1), strong=True)
    assert [turn.answer for turn in round_.turns] == ["りんご", "ごりら"]
    assert [turn.final_drawing for turn in round_.turns] == ["DRAWING#01#01", None]
    assert [score.points for score in round_.round_scores] == [20, 5]
    assert [entry.signed for entry in round_.score_histories] == [20, 20, -15]
    game = await store.write(begin_round_plan(game, guest.id, SOON + 7))
    assert game.current_round.round_number == 2
    game = await store.write(writes.mark_away(game, 1, guest.id, guest.connection_id, SOON + 7))
    game = await store.write(writes.finish_round(game, 1, turn_id_of(game), SOON + 8))
    game = await store.write(writes.finish_game(game, 1, round_id_of(game), SOON + 9))
    assert (game.status, game.ttl) == ("finished", (SOON + 9) // 1000 + FINISHED_GAME_SECONDS)
    assert await load_game(store, game) == game
    picture = await store.get(picture_of(game_id, 1, 1), strong=True)
    assert (picture.data, picture.drawer_id, picture.ttl) == (DATA, host.id, SOON // 1000 + RETENTION_SECONDS)
    await assert_query_returns(
        store,
        latest_chat(game_id),
        ChatMessage(
            id=message.id,
            game_id=game_id,
            player_id=guest.id,
            player_name=guest.name,
            content="りんご",
            type="correct",
            created_at=SOON + 1,
            is_guess=True,
            is_correct=True,
            round_number=1,
            turn_number=1,
            number=1,
            ttl=(SOON + 1) // 1000 + RETENTION_SECONDS,
        ),
    )


async def test_leaving_frees_the_seat_and_makes_the_first_to_join_the_host(store: Store):
    game = await store.put(room())
    await store_items(store, *seats_in(game))
    game = await store.write(writes.leave_seat(game, 1, HOST, MUCH_LATER))
    assert ([player.id for player in game.players], game.host_id) == ([GUEST, THIRD], GUEST)
    left = await store.get(Seat.key(game_id=game.game_id, player_id=HOST), strong=True)
    assert left is not None
    assert (left.left_at, left.ttl) == (MUCH_LATER, MUCH_LATER // 1000 + RETENTION_SECONDS)
    game = await store.write(writes.kick(game, 1, GUEST, THIRD, MUCH_LATER + 1))
    game = await store.write(writes.leave_seat(game, 1, GUEST, MUCH_LATER + 2))
    assert (game.players, game.host_id, game.listed) == ((), None, None)
    newcomer = new_player(seeded_random(), joined_after=200_000)
    game = await store.write(join_plan(game, newcomer))
    assert (game.host_id, game.listed) == (newcomer.id, "waiting")


async def test_a_player_who_leaves_a_game_in_play_keeps_name_and_points(store: Store):
    game = await store.put(DRAWING)
    game = await store.write(writes.leave_seat(game, 1, HOST, SOON))
    assert (game.players[0].left_at, game.host_id, len(game.players)) == (SOON, GUEST, 3)
    with pytest.raises(NotAllowed):
        writes.mark_present(game, 1, HOST, "new-socket", SOON)


async def test_a_lost_connection_keeps_the_seat_and_the_time_of_the_loss(store: Store):
    game = await store.put(DRAWING)
    socket = game.players[1].connection_id
    game = await store.write(writes.mark_away(game, 1, GUEST, socket, SOON))
    game = await store.write(writes.mark_away(game, 1, GUEST, None, SOON + 5))
    assert (game.players[1].away_since, game.players[1].connection_id) == (SOON, None)
    game = await store.write(writes.mark_present(game, 1, GUEST, "new-socket", SOON + 9))
    assert (game.players[1].away_since, game.players[1].connection_id) == (None, "new-socket")
    with pytest.raises(WrongState):
        writes.mark_away(game, 1, GUEST, socket, SOON + 10)


async def test_only_the_current_connection_can_be_touched_or_closed(store: Store):
    connection = next(item for item in seats_in(WAITING) if isinstance(item, Connection))
    old_ids = (connection.player_id, connection.connection_id)
    await store.write(writes.connect(connection))
    touched = await store.write(writes.touch_connection(*old_ids, MUCH_LATER))
    assert (touched.last_active_at, touched.ttl) == (MUCH_LATER, MUCH_LATER // 1000 + CONNECTION_SECONDS)
    await store.write(writes.connect(replace(connection, connection_id="newer")))
    for late in (writes.touch_connection(*old_ids, MUCH_LATER + 1), writes.disconnect(*old_ids)):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    await store.write(writes.disconnect(connection.player_id, "newer"))
    assert await store.get(connection_of(connection.player_id), strong=True) is None


async def test_a_message_or_a_part_of_a_picture_is_never_replaced(store: Store):
    message = new_message(DRAWING.players[1])
    await store.write(writes.post_chat(DRAWING, 1, message, SOON))
    part = await store.write(writes.flush_strokes(DRAWING, 1, TURN, 1, DATA, SOON))
    for duplicate in (
        writes.post_chat(DRAWING, 1, replace(message, content="b"), SOON),
        writes.flush_strokes(DRAWING, 1, TURN, 1, "QQ==", SOON),
    ):
        with pytest.raises(ConditionFailed):
            await store.write(duplicate)
    await assert_query_returns(store, strokes_of(DRAWING.game_id, 1, 1), part)


async def test_messages_have_the_type_turn_and_name_of_the_game(store: Store):
    player = DRAWING.players[1]
    chat_messages = [
        await store.write(writes.post_chat(DRAWING, 1, new_message(player, 1), SOON)),
        await store.write(writes.post_guess(DRAWING, 1, TURN, new_message(player, 2), SOON + 1)),
        await store.write(
            writes.post_notice(DRAWING, 1, new_message(new_player(seeded_random()), 3), "いない人", SOON + 2)
        ),
    ]
    assert [(message.type, message.is_guess, message.is_correct, message.turn_number) for message in chat_messages] == [
        ("normal", None, None, None),
        ("guess", True, False, 1),
        ("system", None, None, None),
    ]
    assert [message.player_name for message in chat_messages] == [player.name, player.name, "いない人"]
    assert {message.ttl for message in chat_messages} == {SOON // 1000 + RETENTION_SECONDS}
    assert (await store.page(last_message(DRAWING.game_id), limit=1)).items == chat_messages[2:]


async def test_releasing_a_connection_spares_one_of_another_game_or_a_newer_one(store: Store):
    connection = next(item for item in seats_in(WAITING) if isinstance(item, Connection))
    release = writes.release_connection(connection.game_id, connection.player_id, MUCH_LATER)
    for spared in (replace(connection, game_id=GameId(A_TURN)), replace(connection, connected_at=MUCH_LATER)):
        await store.write(writes.connect(spared))
        with pytest.raises(ConditionFailed):
            await store.write(release)
    await store.write(writes.connect(connection))
    await store.write(release)
    assert await store.get(connection_of(connection.player_id), strong=True) is None


async def test_a_room_is_created_once(store: Store):
    host = replace(new_player(seeded_random()), connection_id=None)
    plan = create_plan(WAITING.game_id, host, settings())
    assert len(plan.steps) == 2
    await store.write(plan)
    with pytest.raises(TransactionCancelled):
        await store.write(create_plan(WAITING.game_id, new_player(seeded_random(), "other"), settings()))
    assert [player.name for player in (await load_game(store, WAITING)).players] == [host.name]


async def test_a_kept_game_and_its_children_do_not_expire(store: Store):
    size = SampleSize(players=2, messages=3)
    game, played = between_rounds(seeded_random(), ready_room(seeded_random(), NOW, size), 1)
    game = ended(game)
    seats = [seat for seat in seats_in(game) if isinstance(seat, Seat)]
    chat_messages = list(chat_in(seeded_random(), game, size))
    picture = a_picture(seeded_random(), game, 1, 1, game.players[0].id, NOW, 40)
    await store_items(store, game, played, picture, *seats, *chat_messages)
    for _ in range(2):
        plans = [writes.keep_round(played), writes.keep_picture(picture)]
        plans += [*map(writes.keep_seat, seats), *map(writes.keep_message, chat_messages)]
        for plan in plans:
            child = await store.write(plan)
            assert child is not None
            assert child.ttl is None
    # A player who left during the game may keep it too.
    game = await store.put(replace(game, players=(game.players[0], replace(game.players[1], left_at=NOW))))
    game = await store.write(writes.keep_game(game, 1, game.players[1].id, game.updated_at))
    assert game
    assert game.ttl is None
    # Keeping it again changes nothing.
    assert (await store.write(writes.keep_game(game, 1, game.players[0].id, game.updated_at))).ttl is None
