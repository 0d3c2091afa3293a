"""One live room with thousands of clients: the server as it ships, compared with a plain broadcast loop."""
