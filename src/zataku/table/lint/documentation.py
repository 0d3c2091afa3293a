"""The rules about what a design says of itself: docstrings, and arguments to try its patterns with."""

from collections.abc import Iterator

from zataku.table.lint.report import Violation
from zataku.table.schema.analysis.sample_calls import call_with_samples
from zataku.table.schema.table import Table


def undocumented(table: Table) -> Iterator[Violation]:
    """Every entity says in a sentence what it is.

    The design document is written from the code: an entity's docstring is its paragraph there. Access patterns without
    a docstring are refused when they are declared.
    """
    for binding in table.bindings:
        # Looked up in the class itself, since the docstring of Entity says nothing about it.
        if not (vars(binding.entity).get("__doc__") or "").strip():
            name = binding.entity.__name__
            yield Violation(name, f"{name} has no docstring.", "Say in a sentence what one such item is.")


def no_example(table: Table) -> Iterator[Violation]:
    """Every access pattern can be tried out.

    The lint calls each pattern with arguments that fit its annotations and looks at the keys it asks for. Where an
    annotation is missing or says too little, the declaration gives arguments itself with `example=`.
    """
    for name, pattern in table.patterns.items():
        calls = call_with_samples(pattern)
        if calls.problem is not None and not calls.is_design_error:
            yield Violation(
                name,
                f"{name} cannot be tried out: {type(calls.problem).__name__}: {calls.problem}",
                "Annotate its parameters, or give arguments that it takes: @table.query(..., example={...}).",
            )
