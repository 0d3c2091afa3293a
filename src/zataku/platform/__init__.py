"""The table that all systems share: accounts, sessions, API keys, jobs and leases."""
