"""Who is calling: guests, users, API keys, sessions and rate limits."""
