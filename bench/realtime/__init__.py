"""Many sockets in one room: our hub beside a plain broadcast loop, each a server process of its own."""
