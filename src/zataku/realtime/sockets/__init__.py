"""WebSocket connections: protocol, sessions, subscriptions, coalesced writes, slow readers and limits."""
