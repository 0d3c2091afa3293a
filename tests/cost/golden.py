"""The golden table: what calls cost on AWS, worked out by hand from its documentation."""

from tests.cost.index_reading import INDEX_READING
from tests.cost.index_writing import INDEX_WRITING
from tests.cost.reading import READING
from tests.cost.transacting import TRANSACTING
from tests.cost.writing import WRITING

GOLDEN = (*READING, *INDEX_READING, *WRITING, *INDEX_WRITING, *TRANSACTING)
