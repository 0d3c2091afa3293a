"""Export of whole stores into a folder, and import from one.

The folder has the format of DynamoDB's own export to S3, which other programs can read and write.
"""

from zataku.table.transfer.export_reader import ExportContents, ExportedTable, open_export
from zataku.table.transfer.exporter import ExportResult, export_store
from zataku.table.transfer.importer import ImportResult, Phase, import_store
from zataku.table.transfer.reads import TransferProgress, TransferredTable

__all__ = [
    "ExportContents",
    "ExportResult",
    "ExportedTable",
    "ImportResult",
    "Phase",
    "TransferProgress",
    "TransferredTable",
    "export_store",
    "import_store",
    "open_export",
]
