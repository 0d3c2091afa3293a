"""Expressions that are too long for DynamoDB are refused by every store."""

import pytest

from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import check_expression
from zataku.table.backend.errors import BadInput
from zataku.table.backend.expression_strings import check_update_size

NAME, OTHER, FOUND = ex.Attribute(("name",)), ex.Attribute(("other",)), ex.Exists(("name",))
FEW_TAGS = ex.Compare(ex.SizeOf(("tags",)), "<", ex.Literally(3))


@pytest.mark.parametrize(
    ("operators", "condition"),
    [
        (7, ex.All((ex.Not(FOUND), ex.Within(FEW_TAGS, "Stock", "tags", "max_length=3", "include"), FOUND))),
        (4, ex.Either((ex.Between(ex.SizeOf(("tags",)), ex.Literally(1), ex.Literally(3)), FOUND))),
        (4, ex.Not(ex.Either((ex.OneOf(NAME, (ex.Literally("in"), OTHER)), ex.Compare(NAME, "<>", OTHER))))),
    ],
)
def test_operators_and_functions_are_counted(operators: int, condition: ex.Expression):
    repeated = ex.All((condition,) * 80)
    with pytest.raises(BadInput) as refused:
        check_expression(repeated)
    assert refused.value.details["operators"] == 80 * operators + 79


def test_three_hundred_operators_are_accepted_and_one_more_refused():
    check_expression(ex.Not(ex.Either((FOUND,) * 150)))
    with pytest.raises(BadInput, match="301 operators"):
        check_expression(ex.Either((FOUND,) * 151))


def test_an_update_of_more_than_4_kb_is_refused():
    actions = [ex.Assign((f"field{number}",), ex.Literally(number)) for number in range(300)]
    check_update_size(actions[:200])
    with pytest.raises(BadInput, match="The update has"):
        check_update_size(actions)
