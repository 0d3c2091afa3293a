"""Exports exchanged with other programs: dynoxide imports ours, and we import those of Amazon DynamoDB."""

import gzip
import json
import subprocess
from base64 import b64encode
from decimal import Decimal
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest

from tests.support.dynamodb_servers import dynoxide_program, start_server, stop_server
from tests.support.manual_clock import ManualClock
from tests.table.transfer.sample_items import CURTAINS, FURNITURE, items_for, lines_in, lines_of
from zataku.table import ExportDamaged, SchemaRefused
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.backend.values import Item
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.dynamodb.client import Client
from zataku.table.embedded import EmbeddedBackend
from zataku.table.transfer import export_store, import_store
from zataku.table.transfer.parts import Part

BOTH = (FURNITURE, CURTAINS)
EXPORT = "AWSDynamoDB/01693685827463-2d8752fd"


def table_description(table: TableSchema) -> dict[str, Any]:
    """The response of DescribeTable for a table."""

    def keys(schema: TableSchema | IndexSchema) -> list[dict[str, str]]:
        kinds = zip(schema.keys, ("HASH", "RANGE"), strict=False)
        return [{"AttributeName": key.name, "KeyType": kind} for key, kind in kinds]

    types = {key.name: key.type for schema in (table, *table.indexes) for key in schema.keys}
    indexes = [
        {"IndexName": index.name, "KeySchema": keys(index), "Projection": {"ProjectionType": "ALL"}}
        for index in table.indexes
    ]
    return {
        "Table": {
            "TableName": table.name,
            "KeySchema": keys(table),
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()],
            "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
        }
    }


async def test_dynoxide_imports_every_item_of_our_export(
    source_store: EmbeddedBackend, folder: Path, tmp_path: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock, page_items=50, part_bytes=10_000)
    (tmp_path / "schema.json").write_text(json.dumps([table_description(table) for table in BOTH]))
    database = str(tmp_path / "dynoxide.db")
    subprocess.run(
        [dynoxide_program(), "import", "--source", folder, "--schema", tmp_path / "schema.json", "--output", database],
        check=True,
        capture_output=True,
        timeout=60,
    )
    server = start_server("dynoxide", "--db-path", database)
    try:
        store = DynamoBackend(Client(server.endpoint))
        await store.start(BOTH)
        assert await lines_in(store, FURNITURE) == lines_of(items_for(FURNITURE, 300))
        assert await lines_in(store, CURTAINS) == lines_of(items_for(CURTAINS, 40))
        await store.close()
    finally:
        stop_server(server)


def amazon_export(
    folder: Path, table: str, parts: list[list[Any]], *, checksums: str = ".md5", **changes: object
) -> Path:
    """An export as the developer guide describes it: "DynamoDB table export output format"."""
    export_folder = folder / EXPORT
    (export_folder / "data").mkdir(parents=True)
    (export_folder / "_started").touch()
    entries: list[str] = []
    for number, items in enumerate(parts):
        content = gzip.compress("".join(json.dumps({"Item": item}) + "\n" for item in items).encode())
        name = f"asdl123dasas{number}.json.gz"
        (export_folder / "data" / name).write_bytes(content)
        entry = {
            "itemCount": len(items),
            "md5Checksum": b64encode(md5(content).digest()).decode(),
            "etag": "f8ff1f0a2a3c1b7c1e5c2c3b0b6d5e4f-1",
            "dataFileS3Key": f"{EXPORT}/data/{name}",
        }
        entries.append(json.dumps(entry))
    summary = {
        "version": "2020-06-30",
        "exportArn": f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}/export/01693685827463-2d8752fd",
        "startTime": "2023-09-02T20:17:07.463Z",
        "endTime": "2023-09-02T20:24:32.124Z",
        "tableArn": f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}",
        "tableId": "12345a12-abcd-123a-ab12-1234abc12345",
        "exportTime": "2023-09-02T20:17:07.463Z",
        "s3Bucket": "ddb-productcatalog-export",
        "s3Prefix": None,
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"{EXPORT}/manifest-files.json",
        "billedSizeBytes": 0,
        "itemCount": sum(map(len, parts)),
        "outputFormat": "DYNAMODB_JSON",
        **changes,
    }
    for name, text in (("manifest-files", "\n".join(entries) + "\n"), ("manifest-summary", json.dumps(summary))):
        (export_folder / f"{name}.json").write_text(text)
        (export_folder / f"{name}{checksums}").write_bytes(b64encode(md5(text.encode()).digest()))
    return export_folder


ROOM: list[list[Any]] = [
    [
        {
            "SK": {"S": "sofa"},
            "PK": {"S": "room"},
            "weight": {"N": "10.50"},
            "parts": {"SS": ["leg", "arm"]},
            "blob": {"B": "AP8="},
            "blobs": {"BS": ["YQ==", ""]},
            "nothing": {"NULL": True},
            "sold": {"BOOL": False},
            "inside": {"L": [{"M": {"dust": {"NS": ["1e2", "-0.0"]}}}, {"S": ""}]},
        }
    ],
    [],
    [{"PK": {"S": "room"}, "SK": {"S": "lamp"}}],
]
ROOM_ITEMS: list[Item] = [
    {
        "PK": "room",
        "SK": "sofa",
        "weight": Decimal("10.5"),
        "parts": frozenset({"arm", "leg"}),
        "blob": b"\0\xff",
        "blobs": frozenset({b"a", b""}),
        "nothing": None,
        "sold": False,
        "inside": [{"dust": frozenset({100, 0})}, ""],
    },
    {"PK": "room", "SK": "lamp"},
]


@pytest.mark.parametrize("checksums", [".md5", ".checksum"])
@pytest.mark.parametrize("inside", [False, True], ids=["the bucket", "the export's own folder"])
async def test_an_export_of_amazon_dynamodb_is_imported(
    checksums: str, inside: bool, target_store: EmbeddedBackend, folder: Path
):
    export_folder = amazon_export(folder, FURNITURE.name, ROOM, checksums=checksums)
    imported = await import_store(target_store, [FURNITURE], export_folder if inside else folder)
    assert await lines_in(target_store, FURNITURE) == lines_of(ROOM_ITEMS)
    assert (imported.tables[0].items, imported.verified) == (2, True)


async def test_an_item_that_does_not_match_the_schema_is_refused_before_anything_is_written(
    target_store: EmbeddedBackend, folder: Path
):
    amazon_export(folder, FURNITURE.name, [*ROOM, [{"PK": {"S": "room"}, "SK": {"N": "1"}}]])
    with pytest.raises(SchemaRefused, match=r"asdl123dasas3\.json\.gz, item 1 does not fit FurnitureOfARoom: SK is of"):
        await import_store(target_store, [FURNITURE], folder)
    assert await lines_in(target_store, FURNITURE) == []


async def test_a_line_that_is_not_an_item_is_refused_before_anything_is_written(
    target_store: EmbeddedBackend, folder: Path
):
    amazon_export(folder, FURNITURE.name, [*ROOM, ["sofa"]])
    with pytest.raises(ExportDamaged, match=r"asdl123dasas3\.json\.gz has a line 1 that cannot be read"):
        await import_store(target_store, [FURNITURE], folder)
    assert await lines_in(target_store, FURNITURE) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputFormat": "ION"}, "Only full exports in DYNAMODB_JSON"),
        ({"exportType": "INCREMENTAL_EXPORT"}, "Only full exports in DYNAMODB_JSON"),
        ({"itemCount": 3}, "disagree on the number of items"),
        ({"tableArn": "nonsense"}, "names no table"),
        ({"manifestFilesS3Key": None}, "cannot be decoded"),
    ],
)
async def test_an_unsupported_or_inconsistent_manifest_is_refused(
    changes: dict[str, object], message: str, target_store: EmbeddedBackend, folder: Path
):
    amazon_export(folder, FURNITURE.name, ROOM, **changes)
    with pytest.raises(ExportDamaged, match=message):
        await import_store(target_store, [FURNITURE], folder)


async def test_a_changed_or_truncated_part_is_refused(target_store: EmbeddedBackend, folder: Path):
    export_folder = amazon_export(folder, FURNITURE.name, ROOM)
    part = export_folder / "data" / "asdl123dasas2.json.gz"
    content = part.read_bytes()
    for damaged in (content[:-1] + b"x", content[:-9], b""):
        part.write_bytes(damaged)
        with pytest.raises(ExportDamaged, match="MD5"):
            await import_store(target_store, [FURNITURE], folder)
    assert await lines_in(target_store, FURNITURE) == []


async def test_a_folder_with_two_exports_of_one_table_is_refused(target_store: EmbeddedBackend, folder: Path):
    amazon_export(folder / "monday", FURNITURE.name, ROOM)
    amazon_export(folder / "tuesday", FURNITURE.name, ROOM)
    with pytest.raises(ExportDamaged, match="two exports of FurnitureOfARoom"):
        await import_store(target_store, [FURNITURE], folder)
    await import_store(target_store, [FURNITURE], folder / "monday")


def test_a_part_with_a_wrong_sha256_is_refused_despite_its_right_md5(tmp_path: Path):
    path = tmp_path / "part.json.gz"
    path.write_bytes(b"content")
    part = Part(path, 0, b64encode(md5(b"content").digest()).decode(), sha256="0" * 64)
    with pytest.raises(ExportDamaged, match="SHA-256"):
        part.check_bytes()


def test_a_part_that_cannot_be_decompressed_names_the_last_good_line(tmp_path: Path):
    path = tmp_path / "part.json.gz"
    line = b'{"Item":{"PK":{"S":"%s"}}}\n'
    content = gzip.compress(b"".join(line % str(at).encode() for at in range(3)))
    for damaged, message in ((content[:-12], "after line"), (b"not gzip", "after line 0")):
        path.write_bytes(damaged)
        with pytest.raises(ExportDamaged, match=message):
            list(Part(path, 3, "").read())
