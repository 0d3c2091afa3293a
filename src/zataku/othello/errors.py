"""What the game itself refuses before any store is asked."""


class NotPossible(Exception):
    """What was loaded, or what was given with it, does not allow the write. Nothing was written."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
