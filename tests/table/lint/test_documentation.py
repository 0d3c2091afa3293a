"""Every entity and every rule says in a sentence what it is."""

from typing import NewType

from tests.table.lint.findings import findings_of
from zataku.table import Entity, Table
from zataku.table.lint import RULES

GameId = NewType("GameId", str)


def games(docstring: str | None) -> Table:
    table = Table("Games")

    class Game(Entity, frozen=True, kw_only=True):
        game: GameId

    Game.__doc__ = docstring
    table.entity(pk="{game}")(Game)
    return table


def test_an_entity_without_a_docstring() -> None:
    assert findings_of(games(None)) == [("undocumented", "Game")]
    assert findings_of(games("  ")) == [("undocumented", "Game")]
    assert findings_of(games("A game.")) == []


def test_every_rule_explains_itself() -> None:
    for name, rule in RULES.items():
        sentence, blank, *more = (rule.__doc__ or "").splitlines()
        assert sentence.endswith("."), name
        assert not blank, name
        assert more, name
