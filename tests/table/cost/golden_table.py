"""The golden table: costs of calls on AWS, worked out by hand from its documentation."""

from tests.table.cost.index_read_cases import INDEX_READS
from tests.table.cost.index_write_cases import INDEX_WRITES
from tests.table.cost.read_cases import READS
from tests.table.cost.transaction_cases import TRANSACTIONS
from tests.table.cost.write_cases import WRITES

GOLDEN = (*READS, *INDEX_READS, *WRITES, *INDEX_WRITES, *TRANSACTIONS)
