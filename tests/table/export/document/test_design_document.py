"""The design document: complete, stable, and valid Markdown for every design."""

import json
import re
from enum import Enum
from typing import Annotated, Any, Literal, NewType

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from msgspec import Meta

from tests.support.designs import board, connections, drawing, kifu, live, measures, pieces, ranking
from tests.table.export.table_strategies import tables
from tests.table.lint import flawed_designs
from zataku.table import DesignError, Entity, InKey, Key, Span, Table, path
from zataku.table.export import design_document
from zataku.table.export.document.access_patterns import reads_of
from zataku.table.export.document.notation import code_span, markdown_table
from zataku.table.schema.analysis.sample_values import sample_item
from zataku.table.schema.entity import binding_of

DESIGNS: dict[str, list[Table]] = {
    "board": [board.board],
    "connections": [connections.connections],
    "drawing": [drawing.drawing, drawing.steady, drawing.fixed],
    "kifu": [kifu.kifu],
    "live": [*live.TABLES],
    "measures": [measures.measures, measures.blobs, measures.words],
    "pieces": [pieces.pieces],
    "ranking": [ranking.ranking],
    "flawed": [
        flawed_designs.moves_without_padding(),
        flawed_designs.name_from_a_keys_only_index(),
        flawed_designs.pictures_in_one_round(),
    ],
}
GameId = NewType("GameId", str)


def document(*tables: Table, env: str = "prod") -> str:
    return design_document(tables, title="A design", env=env)


def lines_of(table: Table, pattern: str) -> list[str]:
    """The index and key condition of each read of a pattern, one line each."""
    reads = reads_of(table, table.patterns[pattern])
    return [f"{read.index.name if read.index else '-'}: {', '.join(read.condition)}" for read in reads]


@pytest.mark.parametrize("name", DESIGNS)
def test_rendering_a_design_twice_gives_the_same_bytes(name: str) -> None:
    assert document(*DESIGNS[name]).encode() == document(*DESIGNS[name]).encode()


@pytest.mark.parametrize("name", DESIGNS)
def test_every_table_of_the_document_is_a_valid_markdown_table(name: str) -> None:
    text = document(*DESIGNS[name])
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    parsed = sum(token.type == "table_open" for token in tokens)
    written = len(re.findall(r"^\| -{3,}(?: \| -{3,})* \|$", text, re.MULTILINE))
    assert parsed == written > 0
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        lines = block.splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
        # Columns are aligned; the only wide characters of these designs are in one pattern.
        assert len({len(line) for line in lines if line.isascii()}) == 1


@pytest.mark.parametrize("name", DESIGNS)
def test_every_link_points_to_a_heading(name: str) -> None:
    text = document(*DESIGNS[name])
    seen: dict[str, int] = {}
    anchors: set[str] = set()
    tokens = MarkdownIt("commonmark").parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            plain = re.sub(r"[^\w\- ]", "", tokens[at + 1].content.lower()).replace(" ", "-")
            count = seen[plain] = seen.get(plain, -1) + 1
            anchors.add(f"{plain}-{count}" if count else plain)
    links = re.findall(r"\]\(#([^)]+)\)", text)
    assert links
    assert set(links) <= anchors
    assert len(set(links)) == len(links)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_declaration_is_in_the_document(name: str) -> None:
    text = document(*DESIGNS[name])
    for table in DESIGNS[name]:
        assert f"`{table.schema().name}` in `prod`" in text
        for binding in table.bindings:
            assert f"#### {binding.entity.__name__}\n" in text
            assert all(f"| `{field.attribute}`" in text for field in binding.stored)
            assert all(f"| `{attribute}`" in text for attribute in binding.templates)
        assert all(f"| `{index}`" in text for index in table.indexes)
        for pattern, declared in table.patterns.items():
            assert f"In code: `{pattern}(" in text
            assert " ".join(declared.metadata.doc.split()).partition(". ")[0].rstrip(".") in text
        for waiver in table.waivers:
            assert waiver.reason in text
            assert waiver.limit in text


@pytest.mark.parametrize("name", DESIGNS)
def test_every_example_is_an_item_of_its_entity(name: str) -> None:
    text = document(*DESIGNS[name])
    examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    bindings = [binding for table in DESIGNS[name] for binding in table.bindings]
    assert len(examples) == len(bindings)
    for binding in bindings:
        item = sample_item(binding)
        assert item is not None
        assert binding.encode(binding.decode(item)) == item


def test_keys_are_shown_as_templates_with_attribute_names() -> None:
    text = document(board.board)
    assert re.search(r"\| `PK` +\| String +\| yes +\| `GAME#<gameId>` +\| Partition key of the table +\|", text)
    assert re.search(r"\| `SK` +\| String \| yes +\| `MOVE#<turnNumber:03d>` +\| Sort key of the table", text)
    assert re.search(r"\| `GSI4PK` +\| String +\| no +\| `LISTED#<listed>` +\| Partition key of `GSI4`", text)
    assert (
        "- `listed` is derived from `status` and `public`: The status of a public game, None for a private one." in text
    )
    assert "- `share_code` is stored in `cgsi_pk` alone." in document(kifu.kifu)


def test_explicit_nulls_differ_from_absent_attributes() -> None:
    text = document(board.board)
    assert re.search(r"\| `winner` +\| String +\| yes +\| +\| Null when there is none +\|", text)
    assert re.search(r"\| `note` +\| String +\| no +\| +\| +\|", text)


@pytest.mark.parametrize(
    ("kind", "described"),
    [
        (str, "String | "),
        (Annotated[str, Meta(max_length=200)], "String | at most 200 characters"),
        (Annotated[str, Meta(min_length=1, max_length=10)], "String | 1 to 10 characters"),
        (Annotated[str, Meta(pattern="^(a|b)$")], "String | matches `^(a\\|b)$`"),
        (Literal["OPEN", "CLOSED"], "String | `OPEN`, `CLOSED`"),
        (Enum("Side", {"BLACK": "B", "WHITE": "W"}), "String | `B`, `W`"),
        (Annotated[int, Meta(ge=1, le=300)], "Number | 1 to 300"),
        (Annotated[int, Meta(gt=0)], "Number | at least 1"),
        (Annotated[float, Meta(le=1.5)], "Number | at most 1.5"),
        (list[Annotated[str, Meta(max_length=10)]], "List of String | each at most 10 characters"),
        (Annotated[list[int], Meta(max_length=3)], "List of Number | at most 3 members"),
        (frozenset[str], "Set of String | "),
        (dict[str, int], "Map of Number | "),
        (bytes, "Binary | "),
        (int | str, "Number or String | "),
    ],
)
def test_types_and_limits_are_described_in_words(kind: Any, described: str) -> None:
    table = Table("Things")
    fields = {"thing_id": str, "value": kind | None}
    thing = type("Thing", (Entity,), {"__annotations__": fields, "value": None}, kw_only=True, frozen=True)
    table.entity(pk="THING#{thing_id}")(thing)
    (row,) = [line for line in document(table).splitlines() if line.startswith("| `value`")]
    type_name, _, limits = described.partition(" | ")
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
    assert [cells[1], cells[3]] == [type_name, limits]


def test_key_conditions_show_argument_names() -> None:
    assert lines_of(board.board, "moves_of") == ["-: PK = GAME#<gameId>, SK begins_with MOVE#"]
    assert lines_of(board.board, "turn_of") == ["-: PK = GAME#<gameId>#TURN#<turnNumber:03d>"]
    assert lines_of(board.board, "games_with") == ["GSI1: GSI1PK = GAME#STATUS#<status>"]
    assert lines_of(board.board, "game") == ["-: PK = GAME#<gameId>, SK = GAME#<gameId>"]
    assert lines_of(ranking.ranking, "levels") == [
        "GSI_Internal_Level: SK = SNAP#<Date>, Level BETWEEN <low> AND <high>"
    ]
    assert lines_of(ranking.ranking, "named") == ["GSI_Find_User_By_Name: Name_Lower = <name>, SK = METADATA"]
    assert lines_of(live.comments, "comments_after") == ["seq-index: roomId = <roomId>, seq > <seq>"]
    assert lines_of(measures.measures, "measures_from") == ["DeviceIndex: device = <device>"]


class Order(Enum):
    LEVEL = "level"
    POWER = "power"


def test_a_pattern_with_several_reads_shows_each_once() -> None:
    table = Table("Rankings", sk="SK")
    by_level = table.index("Level", pk="levelPK")
    by_power = table.index("Power", pk="powerPK")

    @table.entity(pk="USER#{user}", sk="DAY#{day}", index={"levelPK": "{day}", "powerPK": "{day}"})
    class Standing(Entity, frozen=True, kw_only=True):
        """A day of a player."""

        user: str
        day: str
        rank: int

    @table.query(returns=Standing)
    def by_order(order: Order, day: str) -> Span:
        """The standings of a day."""
        return (by_level if order is Order.LEVEL else by_power).partition(day)

    @table.query(returns=Standing)
    def history(user: str, since: str | None = None, until: str | None = None) -> Span:
        """The days of a player."""
        span = table.partition(f"USER#{user}")
        if since and until:
            return span.between(f"DAY#{since}", f"DAY#{until}")
        return span.since(f"DAY#{since}") if since else span.until(f"DAY#{until}") if until else span

    @table.query(returns=Standing)
    def winners(user: str) -> Span:
        """The days that a player won. Filtered, so every day read is charged."""
        return table.partition(f"USER#{user}").where(path(Standing, lambda standing: standing.rank).equals(1))

    assert lines_of(table, "by_order") == ["Level: levelPK = <day>", "Power: powerPK = <day>"]
    assert lines_of(table, "history") == [
        "-: PK = USER#<user>",
        "-: PK = USER#<user>, SK >= DAY#<since>",
        "-: PK = USER#<user>, SK <= DAY#<until>",
        "-: PK = USER#<user>, SK BETWEEN DAY#<since> AND DAY#<until>",
    ]
    assert reads_of(table, winners)[0].filtered == ("rank",)
    assert "In code: `winners(user)`. Filtered, so every day read is charged." in document(table)
    del by_order, history


def test_a_partly_fixed_key_shows_its_fixed_values() -> None:
    table = Table("Games", sk="SK")

    @table.entity(pk="GAME#{game_id}", sk="ROUND#{number:02d}")
    class Round(Entity, frozen=True, kw_only=True):
        """A round of a game."""

        game_id: InKey[GameId]
        number: InKey[int]

    @table.item()
    def first_round(game_id: GameId) -> Key[Round]:
        """The first round of a game."""
        return Round.key(game_id=game_id, number=1)

    @table.item()
    def round_of(game_id: GameId, number: int) -> Key[Round]:
        """A round of a game."""
        return Round.key(game_id=game_id, number=number)

    assert lines_of(table, "first_round") == ["-: PK = GAME#<game_id>, SK = ROUND#01"]
    assert lines_of(table, "round_of") == ["-: PK = GAME#<game_id>, SK = ROUND#<number:02d>"]
    del first_round, round_of


def test_the_example_of_a_pattern_is_used_where_no_sample_is_valid() -> None:
    table = Table("Games", sk="SK")

    @table.entity(pk="GAME#{game_id}", sk="{number}")
    class Round(Entity, frozen=True, kw_only=True):
        """A round of a game."""

        game_id: Annotated[str, Meta(pattern="^[0-9a-f]{8}$")]
        number: str

    @table.query(returns=Round, example={"game_id": "0a1b2c3d"})
    def rounds(game_id: str) -> Span:
        """The rounds of a game."""
        return table.partition(Round.partition(game_id=game_id))

    @table.query(returns=Round)
    def without_example(game_id: str) -> Span:
        """The rounds of a game, without an example."""
        return table.partition(Round.partition(game_id=game_id))

    assert lines_of(table, "rounds") == ["-: PK = GAME#<game_id>"]
    assert lines_of(table, "without_example") == []
    assert "The key condition depends on arguments of which no example is given." in document(table)
    assert sample_item(binding_of(Round)) == {
        "PK": "GAME#00000000",
        "SK": "number",
        "game_id": "0" * 8,
        "number": "number",
    }
    del rounds, without_example


def test_the_largest_item_is_shown_with_its_units() -> None:
    (row,) = [line for line in document(drawing.drawing).splitlines() if line.startswith("| Picture ") and "," in line]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    largest = int(cells[4].replace(",", ""))
    assert largest > 40_000
    assert float(cells[5]) == -(-largest // 1024)
    assert float(cells[6]) == -(-largest // 4096) / 2


def test_the_settings_are_described_with_the_table_name_of_each_environment() -> None:
    text = document(drawing.drawing, env="dev")
    assert "`EsiritoriGame-dev` in `dev`, `EsiritoriGame` in `prod`, `EsiritoriGame-<env>` elsewhere" in text
    assert "on demand, at most 500 read units and 200 write units a second" in text
    assert "on, to any second of the last 35 days" in text
    assert "`prod`: Retain; other environments: Delete" in text
    steady = document(drawing.steady)
    assert (
        "5 read units and 5 write units a second, growing to 100 read units and 50 write units to stay near 60 %"
        in steady
    )
    assert "with a key of DynamoDB's own" in steady
    assert "`LiveComment-Rooms-prod` in `prod`, `LiveComment-Rooms-<env>` elsewhere" in document(live.rooms)


def test_alarms_are_described_in_sentences() -> None:
    text = document(drawing.drawing)
    for sentence in (
        "Of the 500 read units a second that the table may use, 80 % are used: 120,000 in 300 seconds, 2 times one",
        "Of the 500 read units a second that the index GSI1-PlayerIndex may use, 80 % are used",
        "5 % or more of the requests GetItem, BatchGetItem and Query fail in 300 seconds.",
        "Any read of the table is throttled in 300 seconds.",
        "More than 10 writes of the index GSI2-ActiveGameIndex are throttled in 300 seconds.",
    ):
        assert sentence in text


def test_cells_escape_bars_and_backticks_and_align_wide_characters() -> None:
    assert markdown_table(("a", "b"), [("x|y", "名前"), ("line\nbreak", "z")]).splitlines() == [
        "| a          | b    |",
        "| ---------- | ---- |",
        "| x\\|y       | 名前 |",
        "| line break | z    |",
    ]
    assert code_span("a`b") == "``a`b``"
    assert code_span("`a") == "`` `a ``"


@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_any_table_can_be_documented(table: Table) -> None:
    text = document(table, env="dev")
    assert f"`{table.schema('dev').name}` in `dev`" in text
    assert all(f"| `{index}`" in text for index in table.indexes)
    assert "\n\n\n" not in text
    assert text.endswith("|\n")


def test_a_document_without_tables_is_refused() -> None:
    with pytest.raises(DesignError, match="at least one table"):
        document()
