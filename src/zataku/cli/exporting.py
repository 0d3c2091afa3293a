"""A design in the forms that others read."""

from typing import Literal, TypeAlias

import msgspec

from zataku.table import BadInput, LacksCapability
from zataku.table.export import design_document, policy_document, template, to_json, to_yaml
from zataku.table.schema.design_catalogue import Design, load_examples

Form: TypeAlias = Literal["markdown", "cloudformation", "iam"]


def exported(form: Form, design: Design, env: str, *, yaml: bool = False, store_table: bool = False) -> str:
    """The design as text: a Markdown document, a CloudFormation template, or the policies of its functions."""
    match form:
        case "markdown":
            return design_document(
                design.tables,
                title=design.title,
                env=env,
                departures=design.departures,
                rights=design.matrix,
                introduction=design.doc,
                examples=load_examples(design),
            )
        case "cloudformation":
            whole = template(design.tables, env=env, rights=design.matrix, store_table=store_table)
            return _yaml(whole) if yaml else to_json(whole)
        case "iam":
            return _policies(design, env)


def _yaml(whole: dict[str, object]) -> str:
    try:
        return to_yaml(whole)
    except ImportError:
        raise LacksCapability(
            "YAML needs the package PyYAML, which is not installed: pip install pyyaml. Or write JSON."
        ) from None


def _policies(design: Design, env: str) -> str:
    if design.matrix is None:
        raise BadInput(
            f"The design {design.name} has no matrix of rights, so there are no policies. Declare a "
            "zataku.table.store.permissions.PermissionMatrix in its module."
        )
    documents = {rights.function: policy_document(rights, env=env) for rights in design.matrix}
    return msgspec.json.format(msgspec.json.encode(documents), indent=2).decode() + "\n"
