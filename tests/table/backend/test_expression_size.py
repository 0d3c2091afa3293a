"""The size of expressions: never less than that of the text which DynamoDB receives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.table.differential import strategies
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import check_expression
from zataku.table.backend.errors import BadInput
from zataku.table.backend.expression_size import ExpressionSize, check_update_size
from zataku.table.dynamodb.expressions import Expressions

FOUND = ex.Exists(("name",))


@given(st.lists(strategies.changes(("p", "a")), min_size=1, max_size=5), strategies.filters)
def test_the_text_is_never_longer(changes: list[tuple[ex.Action, ...]], condition: ex.Expression | None):
    actions = [action for change in changes for action in change]
    expressions, update = Expressions(), ExpressionSize()
    update.add_update(actions)
    text = expressions.update(actions)
    assert len(text) <= update.size <= 2 * len(text) + 20
    if condition is not None:
        measured = ExpressionSize()
        measured.add_condition(condition)
        text = expressions.condition(condition)
        assert len(text) <= measured.size <= 2 * len(text)


def test_operators_and_functions_are_counted():
    size = ex.Compare(ex.SizeOf(("tags",)), "<", ex.Literally(3))
    measured = ExpressionSize()
    measured.add_condition(ex.All((ex.Not(FOUND), ex.Within(size, "Stock", "tags", "max_length=3", "include"), FOUND)))
    # NOT, attribute_exists, AND, size, <, AND, attribute_exists
    assert measured.operators == 7


def test_three_hundred_operators_are_accepted_and_one_more_refused():
    check_expression(ex.Not(ex.Either((FOUND,) * 150)))
    with pytest.raises(BadInput, match="301 operators"):
        check_expression(ex.Either((FOUND,) * 151))


def test_an_update_of_more_than_4_kb_is_refused():
    actions = [ex.Assign((f"field{number}",), ex.Literally(number)) for number in range(300)]
    check_update_size(actions[:200])
    with pytest.raises(BadInput, match="The update has"):
        check_update_size(actions)
