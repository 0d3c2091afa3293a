"""Plans for a game of three players, and the game in the states that they need."""

from random import Random

from msgspec.structs import replace

from tests.drawing.games import NOW, new_message, room, round_id_of, seeded_random, turn_id_of
from zataku.drawing import writes
from zataku.drawing.design import Game
from zataku.drawing.limits import RoundId, TurnId
from zataku.drawing.samples import ANSWERS, a_picture, an_id, between_rounds, ended, in_play
from zataku.table import Plan
from zataku.table.schema.plan import Save

MUCH_LATER = NOW + 100_000
A_ROUND, A_TURN = RoundId(an_id(Random("a round"))), TurnId(an_id(Random("a turn")))
WAITING = room()
HOST, GUEST, THIRD = (player.id for player in WAITING.players)
DRAWING = in_play(seeded_random(), WAITING, 1, 1)
CHOOSING = in_play(seeded_random(), WAITING, 1, 1, "setting_answer")
TURN_OVER = in_play(seeded_random(), WAITING, 1, 1, "finished")
BETWEEN_ROUNDS, _ = between_rounds(seeded_random(), WAITING, 1)
FINISHED = ended(BETWEEN_ROUNDS)
SOON = DRAWING.updated_at + 1000
TURN, ROUND = turn_id_of(DRAWING), round_id_of(BETWEEN_ROUNDS)
DATA = a_picture(seeded_random(), DRAWING, 1, 1, HOST, SOON, 400).data
SHIRITORI = replace(WAITING, settings=replace(WAITING.settings, mode="shiritori"))


def guess_plan(game: Game, by: int = 1, points: int = 50, now: int = SOON) -> Plan[Game]:
    return writes.record_correct_guess(game, 1, turn_id_of(game), new_message(game.players[by]), points, now)


def finish_turn_plan(game: Game, data: str | None = None, penalty: int | None = None) -> Plan[Game]:
    return writes.finish_turn(game, 1, turn_id_of(game), data, penalty, SOON)


def begin_turn_plan(game: Game, drawer: str, now: int = SOON) -> Plan[Game]:
    return writes.begin_turn(game, 1, turn_id_of(game), TurnId(an_id(Random(drawer))), drawer, ANSWERS[:3], now)


def begin_round_plan(game: Game, drawer: str, now: int) -> Plan[Game]:
    return writes.begin_round(game, 1, round_id_of(game), A_ROUND, A_TURN, drawer, ANSWERS[:3], now)


def start_plan(game: Game, by: str = HOST, kana: str | None = None) -> Plan[Game]:
    return writes.start_game(game, 1, by, A_ROUND, A_TURN, ANSWERS[:3], kana, MUCH_LATER)


def with_absent(game: Game, *absent: str) -> Game:
    """The game after these players lost their connections."""
    players = (
        replace(player, connection_id=None, away_since=SOON) if player.id in absent else player
        for player in game.players
    )
    return replace(game, players=tuple(players))


def with_unready_players(game: Game) -> Game:
    return replace(game, players=(*game.players[:-1], replace(game.players[-1], status="not_ready")))


def game_after(plan: Plan[Game]) -> Game:
    """The game that a plan would store."""
    (step, *_) = plan.steps
    assert isinstance(step, Save)
    return step.entity
