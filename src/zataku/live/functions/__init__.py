"""The functions of the document's permission matrix: use cases of live rooms, each with the rights of its row only."""

from zataku.live.design import MATRIX
from zataku.table import Store


class Function:
    """One row of the matrix, by the name of the class. The store refuses what the row does not grant."""

    def __init__(self, store: Store) -> None:
        self._store = store.restricted(MATRIX[type(self).__name__])
