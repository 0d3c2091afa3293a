"""Tables in DynamoDB: their descriptions, and the changes that make them match a design."""
