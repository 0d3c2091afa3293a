"""The rules of live rooms: pure functions over frozen values. Nothing here reads a clock, a store or a socket."""
