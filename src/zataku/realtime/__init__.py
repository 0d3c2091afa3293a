"""Live traffic: topics that fan events out, rooms that serialise commands, sockets, and the bus between processes."""
