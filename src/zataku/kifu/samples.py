"""A sample library for demos and tests: the same random source and start give the same items.

The games are openings that stop early. The winner by resignation or time follows from the moves; a repetition or an
impasse is only stated. Positions are left out: they follow from the moves by the rules of the game.
"""

from collections.abc import Iterator
from random import Random

from msgspec.structs import replace

from zataku.kifu.entities import (
    Analysis,
    KeptAnalysis,
    LibraryPermission,
    Position,
    PositionList,
    Record,
    RecordPermission,
    RemovedRecord,
    RemovedTag,
    ReplacedText,
    SlugClaim,
    SystemSettings,
    Tag,
    Tagging,
    TagNameClaim,
    UserSettings,
)
from zataku.kifu.ids import new_analysis_id, new_kifu_id, new_share_code, new_tag_id
from zataku.kifu.limits import (
    ANALYSIS_SECONDS,
    KIFU_BYTES,
    KifuId,
    PositionHash,
    Result,
    ShareCode,
    TagId,
    UserName,
)
from zataku.kifu.sample_games import Game, format_kif, random_game
from zataku.kifu.writes.analyses import compress_result
from zataku.table import Entity, format_instant

HANAKO, MINJUN, OLIVIA = UserName("hanako"), UserName("min-jun"), UserName("olivia_w")
# The fraction of the records that belongs to each user.
SHARES: dict[UserName, float] = {HANAKO: 0.6, MINJUN: 0.3, OLIVIA: 0.1}
NAMES: dict[UserName, str] = {HANAKO: "高橋花子", MINJUN: "김민준", OLIVIA: "Olivia West"}
OPPONENTS = ("鈴木", "佐藤健", "田中", "渡辺", "이서연", "박지호", "J. Smith", "María")
FOLDERS = ("社団戦/2025", "社団戦/2026", "道場/土曜", "将棋ウォーズ/10分", "쇼기모임/2026", "study/joseki")
TAG_NAMES = (
    "矢倉",
    "四間飛車",
    "相掛かり",
    "角換わり",
    "中飛車",
    "三間飛車",
    "終盤が課題",
    "名局",
    "복기 필요",
    "to review",
)
MEMOS = (
    "序盤研究用の棋譜",
    "",
    "終盤で逆転された。寄せを見直す。",
    "수순을 다시 확인할 것",
    "Missed a mate in five.",
    "千日手模様",
)
# The ending on the last line, and the result for the owner; None where it follows from the moves.
ENDINGS: tuple[tuple[str, Result | None], ...] = (
    ("投了", None),
    ("投了", None),
    ("切れ負け", None),
    ("千日手", "sennichite"),
    ("持将棋", "jishogi"),
    ("中断", "draw"),
    ("中断", "none"),
)
DAY = 24 * 60 * 60


def library(random: Random, start: float, records: int = 500) -> Iterator[Entity]:
    """The items of three users: settings with counts, tags, records, links, permissions and analyses."""
    yield SystemSettings()
    for username, share in SHARES.items():
        yield from _user_items(random, start, username, max(1, int(records * share)))
    yield LibraryPermission(owner=HANAKO, username=MINJUN)
    yield LibraryPermission(owner=OLIVIA, username=HANAKO)


def _user_items(random: Random, start: float, username: UserName, count: int) -> Iterator[Entity]:
    """The items of one user."""
    yield UserSettings(username=username, kifu_count=count, tag_count=len(TAG_NAMES))
    tags = {name: new_tag_id(random) for name in TAG_NAMES}
    for number, (name, tag_id) in enumerate(tags.items()):
        created = format_instant(start + number)
        yield Tag(
            username=username, tag_id=tag_id, name=name, created=created, latest_access=created, latest_update=created
        )
        yield TagNameClaim(username=username, name=name, tag_id=tag_id)
    for number in range(count):
        yield from _record(random, start + number * DAY / 4, username, number, tags)


def _record(random: Random, at: float, username: UserName, number: int, tags: dict[str, TagId]) -> Iterator[Entity]:
    """One record with its claim and tags, and for some a permission or an analysis."""
    ending, result = random.choice(ENDINGS)
    opponent = random.choice(OPPONENTS)
    game, side = random_game(random, NAMES[username], opponent, format_instant(at)[:10], ending)
    kifu_id, created = new_kifu_id(random), format_instant(at)
    shared = random.random() < 0.1
    slug = f"{random.choice(FOLDERS)}/{opponent}-{number + 1:04d}"
    updated = at + random.randrange(7) * DAY
    chosen = sorted({game.opening, *random.sample(TAG_NAMES, random.randint(0, 2))})
    yield Record(
        username=username,
        kifu_id=kifu_id,
        share_code=new_share_code(random) if shared else None,
        slug=slug,
        kifu=format_kif(game),
        first_or_second=side,
        result=result or ("win" if game.winner == side else "lose"),
        memo=random.choice(MEMOS),
        public=random.random() < 0.05,
        share=shared,
        created=created,
        latest_access=format_instant(updated + random.randrange(23) * DAY),
        latest_update=format_instant(updated),
    )
    yield SlugClaim(username=username, slug=slug, kifu_id=kifu_id)
    for name in chosen:
        yield Tagging(kifu_id=kifu_id, tag_id=tags[name])
    if random.random() < 0.1:
        yield RecordPermission(
            kifu_id=kifu_id, username=random.choice([viewer for viewer in SHARES if viewer != username])
        )
    if random.random() < 0.1:
        yield from _analysis(random, at, username, kifu_id, game)


def _analysis(random: Random, at: float, username: UserName, kifu_id: KifuId, game: Game) -> Iterator[Entity]:
    analysis_id = new_analysis_id(random, int(at * 1000))
    scores = ", ".join(str(random.randint(-800, 800)) for _ in range(game.moves + 1))
    response = compress_result(f'{{"moves": {game.moves}, "evaluation": [{scores}]}}')
    yield Analysis(
        analysis_id=analysis_id,
        username=username,
        created=format_instant(at),
        status="succeeded",
        response=response,
        expired=int(at) + ANALYSIS_SECONDS,
        kifu_id=kifu_id,
    )
    yield KeptAnalysis(kifu_id=kifu_id, analysis_id=analysis_id, response=response, kept_at=format_instant(at + 60))


def largest_record(username: UserName, kifu_id: KifuId, start: float) -> Record:
    """The largest possible record: 300 KB of text with the longest memo, slug and code."""
    created = format_instant(start)
    line = "*この手はどうだったか。\n"
    text = line * (KIFU_BYTES // len(line.encode()))
    return Record(
        username=username,
        kifu_id=kifu_id,
        share_code=ShareCode("c" * 43),
        slug="𠮷" * 254 + "竜",
        kifu=text + "a" * (KIFU_BYTES - len(text.encode())),
        first_or_second="second",
        result="sennichite",
        memo="𠮷" * 10_000,
        public=False,
        share=True,
        created=created,
        latest_access=created,
        latest_update=created,
    )


def examples() -> Iterator[Entity]:
    """Items of every entity, from a library of 60 records, for the design document.

    The moves of the first record were changed once. A record and a tag were just removed.
    """
    random, start = Random(1), 1_771_669_800.0
    items = list(library(random, start, 60))
    record = next(item for item in items if isinstance(item, Record))
    for item in items:
        changed = isinstance(item, SlugClaim) and item.kifu_id == record.kifu_id
        yield replace(item, text=1) if changed else item
    # The number of the last line, the ending, is that of the positions: one before each move, and the last.
    count = int(record.kifu.splitlines()[-1].split()[0])
    hashes = [f"{random.getrandbits(64):016x}" for _ in range(count)]
    yield Position(username=HANAKO, position=PositionHash(hashes[0]), kifu_id=record.kifu_id, text=1)
    packed = bytes.fromhex("".join(hashes))
    yield PositionList(username=HANAKO, kifu_id=record.kifu_id, text=1, part=0, positions=packed)
    yield ReplacedText(username=HANAKO, kifu_id=record.kifu_id, text=0)
    yield RemovedRecord(username=HANAKO, kifu_id=new_kifu_id(random))
    yield RemovedTag(username=HANAKO, tag_id=new_tag_id(random))
