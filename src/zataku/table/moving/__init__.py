"""Moving house: whole stores into a folder and out of it, and two stores side by side.

A folder is written and read in the format of DynamoDB's own export to S3, so other programs can take part.
"""

from zataku.table.moving.comparing import Difference, compare_stores
from zataku.table.moving.exporting import Exported, export_store
from zataku.table.moving.found import FoundExport, FoundTable, open_export
from zataku.table.moving.importing import Imported, Phase, import_store
from zataku.table.moving.moved import MovedTable, MovingProgress

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
