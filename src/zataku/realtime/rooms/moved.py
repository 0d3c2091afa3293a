"""The room is not where it was."""


class RoomMoved(Exception):
    """This process does not run the room any more: ask the next owner.

    `perhaps` says that the command may have been carried out all the same.
    """

    def __init__(self, *, perhaps: bool = False) -> None:
        super().__init__("The room is run by another process, or by none.")
        self.perhaps = perhaps
