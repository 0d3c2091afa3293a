"""A function of the document's matrix: one use case, with a handle that can do what its row grants and nothing else."""

from zataku.live.design import MATRIX
from zataku.table import Store


class Function:
    """One row of the matrix, by the name of the class. What the row does not grant fails, on every store."""

    def __init__(self, store: Store) -> None:
        self._store = store.restricted(MATRIX[type(self).__name__])
