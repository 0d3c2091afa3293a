"""What a live room refuses before any store is asked."""


class UnfitTick(ValueError):
    """What came in a tick cannot be written together: there is nothing or too much, or its numbers are wrong."""
