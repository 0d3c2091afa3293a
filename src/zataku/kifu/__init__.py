"""The shogi record library: keep, replay, analyse and share game records."""
