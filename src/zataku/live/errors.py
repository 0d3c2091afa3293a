"""What a live room refuses before any store is asked."""


class UnfitComments(ValueError):
    """The comments of a tick cannot be written together: there are none or too many, or their numbers are wrong."""
