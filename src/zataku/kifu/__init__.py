"""The shogi record library: keep, replay, analyse and share game records. Not on the table yet."""
