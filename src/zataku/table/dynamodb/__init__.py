"""The store in Amazon DynamoDB, or in anything that speaks its protocol."""
