"""The rules of live rooms: pure functions over frozen values, among them the entities of the design.

Nothing here reads a clock, a store or a socket; the time and the ids of new comments are arguments.
"""
