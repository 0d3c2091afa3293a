"""What happens between people at the same moment: topics, rooms, sockets and the bus between processes.

Nothing is here yet; the first system that needs a live room brings it.
"""
