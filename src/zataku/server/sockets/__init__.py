"""WebSockets: the handshake, and the connections that are open."""
