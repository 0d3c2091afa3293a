"""Moving house: whole stores into a folder and out of it, and two stores side by side.

A folder is written and read in the format of DynamoDB's own export to S3, so other programs can take part.
"""

from zataku.table.transfer.comparing import Difference, compare_stores
from zataku.table.transfer.exporting import Exported, export_store
from zataku.table.transfer.found import FoundExport, FoundTable, open_export
from zataku.table.transfer.importing import Imported, Phase, import_store
from zataku.table.transfer.moved import MovedTable, MovingProgress

__all__ = [
    "Difference",
    "Exported",
    "FoundExport",
    "FoundTable",
    "Imported",
    "MovedTable",
    "MovingProgress",
    "Phase",
    "compare_stores",
    "export_store",
    "import_store",
    "open_export",
]
