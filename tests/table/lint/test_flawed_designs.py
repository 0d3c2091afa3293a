"""The documents' literal versions of their known slips: each is reported, and nothing else."""

from collections.abc import Callable

import pytest

from tests.table.lint import flawed_designs as literal
from zataku.table import Table
from zataku.table.lint import lint


@pytest.mark.parametrize(
    ("design", "reported"),
    [
        (
            literal.moves_without_padding,
            [("unpadded-number", "Move.SK"), ("unpadded-number", "Commentary.SK")],
        ),
        (literal.rounds_without_padding, [("unpadded-number", "Round.SK")]),
        (literal.name_from_a_keys_only_index, [("projection-lacks-field", "player_named")]),
        (literal.share_code_on_the_swap_index, [("unanswerable-pattern", "shared")]),
        (literal.player_index_without_keys, [("unfed-index", "GSI1-PlayerIndex")]),
        (literal.pictures_in_one_round, [("item-too-large", "Round")]),
        (literal.everybody_in_one_partition, [("hot-partition", "User.pk"), ("hot-partition", "Analysis.pk")]),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
def test_a_known_flaw_of_the_documents_is_reported(
    design: Callable[[], Table], reported: list[tuple[str, str]]
) -> None:
    assert [(found.rule, found.subject) for found in lint(design()).findings] == reported


def test_the_pictures_of_a_round_come_with_their_figure() -> None:
    (found,) = lint(literal.pictures_in_one_round()).findings
    assert "Round can have 1,0" in found.message
    assert "turns (1,0" in found.message
