"""The message bus between the processes of one server: its port, an in-process bus, and Redis."""
