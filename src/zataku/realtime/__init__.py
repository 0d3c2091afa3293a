"""What happens between people at the same moment: topics, rooms, sockets and the bus between processes."""
