"""Names, reasons and commentary of the samples, in three languages."""

from collections.abc import Sequence
from typing import TypeAlias

Phrase: TypeAlias = tuple[str, str, str]
"""One phrase in Japanese, Korean and English; {0}, {1}, ... are placeholders."""

NAMES = (
    "さくら",
    "石田 健一",
    "黒白どちらも",
    "민지",
    "박서준",
    "오셀로왕",
    "Hannah",
    "corner_lover",
    "Ōkawa Jun",
    "角取り名人🎯",
    "이하늘",
    "Zoë",
)

REASONS: tuple[Phrase, ...] = (
    ("{0}は相手の着手できる場所を減らす手。", "{0}은 상대가 둘 곳을 줄이는 수입니다.", "{0} leaves them fewer moves."),
    ("{0}なら角への道を開けずに済む。", "{0}이라면 귀를 내주지 않습니다.", "{0} keeps the corner out of reach."),
    ("中央を固める{0}。返す石が少ない。", "중앙을 다지는 {0}. 적게 뒤집습니다.", "{0} turns few discs in the centre."),
    ("{0}で辺を先に押さえる。", "{0}로 변을 먼저 차지합니다.", "{0} takes the edge first."),
)

COMMENTS: tuple[Phrase, ...] = (
    ("{0}。黒{1}、白{2}。", "{0}. 흑 {1}, 백 {2}.", "{0}. Black {1}, white {2}."),
    ("{0}で流れが変わった。{1}対{2}。", "{0}로 흐름이 바뀌었습니다. {1} 대 {2}.", "{0} turns the tide: {1} to {2}."),
    ("静かな{0}。黒{1}、白{2}の形勢。", "조용한 {0}. 흑 {1}, 백 {2}.", "A quiet {0}, at {1} to {2}."),
)

USER_REASONS = (
    "ここしかないと思います。次に角が狙えます！",
    "少し欲張りですが、右側を全部ひっくり返したい。",
    "여기 두면 다음 차례에 귀를 노릴 수 있어요.",
    "변을 먼저 잡는 게 좋아 보입니다.",
    "Give up three discs now, take the corner later.",
    "Every other move opens the C column for the AI.",
)


def fill_phrase(phrases: Sequence[Phrase], index: int, *values: object) -> dict[str, str]:
    """One of the phrases in every language, with the values filled in."""
    ja, ko, en = phrases[index % len(phrases)]
    return {"ja": ja.format(*values), "ko": ko.format(*values), "en": en.format(*values)}
