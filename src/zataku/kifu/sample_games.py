"""Games for the sample library: real openings in the KIF format."""

from random import Random

from msgspec import Struct

from zataku.kifu.limits import KifuText, Side

_FILES = "０１２３４５６７８９"
_RANKS = "零一二三四五六七八九"

# A move is origin, target, piece: 7776歩 moves from 77 to 76, 2277角成 promotes.
OPENINGS: dict[str, str] = {
    "矢倉": "7776歩 8384歩 7968銀 3334歩 6766歩 7162銀 5756歩 5354歩 3948銀 3142銀 4958金 4132金 6978金 5141玉",
    "四間飛車": "7776歩 3334歩 6766歩 8384歩 2868飛 7162銀 5948玉 5142玉 4838玉 4232玉 3828玉 5354歩 3938銀",
    "相掛かり": "2726歩 8384歩 2625歩 8485歩 6978金 4132金 3938銀 7172銀 9796歩 1314歩 5968玉 5142玉",
    "角換わり": "7776歩 8384歩 2726歩 4132金 6978金 8485歩 8877角 3334歩 7968銀 2277角成 6877銀 3122銀 3938銀",
    "中飛車": "5756歩 3334歩 2858飛 8384歩 7776歩 7162銀 5655歩 5142玉 5948玉 4232玉 4838玉 6152金",
    "三間飛車": "7776歩 3334歩 2878飛 8384歩 6766歩 8485歩 8877角 7162銀 7968銀 5142玉 5948玉 4232玉",
}


class Game(Struct, frozen=True, kw_only=True):
    """A sample game: its players, opening, number of moves and ending."""

    opening: str
    first: str
    second: str
    day: str
    moves: int
    ending: str

    @property
    def winner(self) -> Side:
        """The side that wins when the other resigns or runs out of time: the one that moved last."""
        return "first" if self.moves % 2 else "second"


def random_game(random: Random, owner: str, opponent: str, day: str, ending: str) -> tuple[Game, Side]:
    """A random game of the owner against an opponent, and the owner's side."""
    opening = random.choice(sorted(OPENINGS))
    side: Side = random.choice(("first", "second"))
    first, second = (owner, opponent) if side == "first" else (opponent, owner)
    moves = random.randint(8, len(OPENINGS[opening].split()))
    return Game(opening=opening, first=first, second=second, day=day, moves=moves, ending=ending), side


def moves_of(game: Game) -> list[str]:
    """The moves of the game in the notation of `OPENINGS`."""
    return OPENINGS[game.opening].split()[: game.moves]


def format_kif(game: Game) -> KifuText:
    """The game as a KIF file: headers, numbered moves with their origin squares, and the ending."""
    lines = [
        f"開始日時：{game.day.replace('-', '/')}",
        "手合割：平手",
        f"先手：{game.first}",
        f"後手：{game.second}",
        f"戦型：{game.opening}",
        "手数----指手---------消費時間--",
    ]
    spent = [0, 0]
    before = ""
    for number, move in enumerate(moves_of(game), 1):
        used = 3 + number * 7 % 40
        spent[number % 2] += used
        total = spent[number % 2]
        square = "同　" if move[2:4] == before else f"{_FILES[int(move[2])]}{_RANKS[int(move[3])]}"
        text, before = f"{square}{move[4:]}({move[:2]})", move[2:4]
        lines.append(f"{number:4d} {text}   ( 0:{used:02d}/00:{total // 60:02d}:{total % 60:02d})")
    lines.append(f"{game.moves + 1:4d} {game.ending}")
    return "\n".join(lines) + "\n"
