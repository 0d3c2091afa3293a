"""Many sockets in one room: our hub compared with a plain broadcast loop, each in its own server process."""
