"""The known flaws of the design documents: each is reported, and nothing else."""

from collections.abc import Callable

import pytest

from tests.table.lint import flawed_designs
from zataku.table import Table
from zataku.table.lint import lint


@pytest.mark.parametrize(
    ("design", "reported"),
    [
        (
            flawed_designs.moves_without_padding,
            [("unpadded-number", "Move.SK"), ("unpadded-number", "Commentary.SK")],
        ),
        (flawed_designs.rounds_without_padding, [("unpadded-number", "Round.SK")]),
        (flawed_designs.name_from_a_keys_only_index, [("projection-lacks-field", "player_named")]),
        (flawed_designs.share_code_on_the_swap_index, [("unanswerable-pattern", "shared")]),
        (flawed_designs.player_index_without_keys, [("unfed-index", "GSI1-PlayerIndex")]),
        (flawed_designs.pictures_in_one_round, [("item-too-large", "Round")]),
        (flawed_designs.all_users_in_one_partition, [("hot-partition", "User.pk"), ("hot-partition", "Analysis.pk")]),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_known_flaw_of_the_documents_is_reported(
    design: Callable[[], Table], reported: list[tuple[str, str]]
) -> None:
    assert [(finding.rule, finding.subject) for finding in lint(design()).findings] == reported


def test_a_too_large_item_is_reported_with_its_size() -> None:
    (finding,) = lint(flawed_designs.pictures_in_one_round()).findings
    assert "Round can have 1,0" in finding.message
    assert "turns (1,0" in finding.message
