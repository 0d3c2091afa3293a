"""The error of Othello's rules, raised before anything is written."""


class RuleViolation(Exception):
    """The loaded items or the arguments do not allow the write. `code` names the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
