"""What is generated from a design: its document, its CloudFormation template, its IAM policies.

    print(design_document([board], title="Vote board game"))
    print(to_json(template([board], env="prod", rights=matrix)))

The same design gives the same text to the byte, so that generated files can be committed and compared.
"""

from zataku.table.export.cloudformation.policies import policy_document
from zataku.table.export.cloudformation.template import template, to_json, to_yaml
from zataku.table.export.document.design_document import design_document

__all__ = ["design_document", "policy_document", "template", "to_json", "to_yaml"]
