"""CloudFormation templates and IAM policies of a design."""
