"""Attackers against a fresh server, while a well-behaved audience measures how long it waits."""
