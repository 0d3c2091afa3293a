"""Who is calling: guests, users, API keys, sessions and rate limits.

Nothing is here yet; the start page asks nobody who they are.
"""
