"""The golden table: costs of calls on AWS, worked out by hand from its documentation."""

from tests.table.cost.index_read_cases import INDEX_READING
from tests.table.cost.index_write_cases import INDEX_WRITING
from tests.table.cost.read_cases import READING
from tests.table.cost.transaction_cases import TRANSACTING
from tests.table.cost.write_cases import WRITING

GOLDEN = (*READING, *INDEX_READING, *WRITING, *INDEX_WRITING, *TRANSACTING)
