"""The shogi record library: storage, tags, sharing and analysis of game records."""
