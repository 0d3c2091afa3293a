"""The DynamoDB backend: Amazon DynamoDB, or another service with its protocol."""
