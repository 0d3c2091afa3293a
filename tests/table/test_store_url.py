"""URLs of stores: the forms that are accepted, and the sentences that refuse any other."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.reading_circle import circle, member, member_key
from zataku.table import BadInput, SchemaRefused, StoreClosed, StoreUrl, Table, open_store

FILES = {
    "data/zataku.db": "data/zataku.db",
    "/var/lib/zataku.db": "/var/lib/zataku.db",
    "what?.db": "what?.db",
    " data/zataku.db ": "data/zataku.db",
    "file:data/zataku.db": "data/zataku.db",
    "file:/var/lib/zataku.db": "/var/lib/zataku.db",
    "file:///var/lib/zataku.db": "/var/lib/zataku.db",
    "file:two%20words%3F.db": "two words?.db",
    "FILE:x.db": "x.db",
}


@pytest.mark.parametrize("text", FILES)
def test_a_path_names_a_file(text: str) -> None:
    assert StoreUrl.parse(text) == StoreUrl("embedded", path=Path(FILES[text]))


SERVICES = {
    "dynamodb:": StoreUrl("dynamodb"),
    "dynamodb://": StoreUrl("dynamodb"),
    "dynamodb://eu-west-1": StoreUrl("dynamodb", region="eu-west-1"),
    "dynamodb://us-gov-east-1": StoreUrl("dynamodb", region="us-gov-east-1"),
    "dynamodb:?tables=verify": StoreUrl("dynamodb", manage=False),
    "dynamodb://eu-west-1?tables=manage": StoreUrl("dynamodb", region="eu-west-1"),
    "dynamodb+http://127.0.0.1:8000": StoreUrl("dynamodb", endpoint="http://127.0.0.1:8000"),
    "dynamodb+https://db.example/": StoreUrl("dynamodb", endpoint="https://db.example"),
    "dynamodb+http://[::1]:8000?region=here&tables=verify": StoreUrl(
        "dynamodb", endpoint="http://[::1]:8000", region="here", manage=False
    ),
}


@pytest.mark.parametrize("text", SERVICES)
def test_a_url_names_a_service(text: str) -> None:
    assert StoreUrl.parse(text) == SERVICES[text]


@pytest.mark.parametrize("text", [*FILES, *SERVICES])
def test_the_text_of_a_url_parses_to_the_same_url(text: str) -> None:
    url = StoreUrl.parse(text)
    if url.manage:
        assert StoreUrl.parse(str(url)) == url


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("data/zataku.db", "zataku.db"),
        ("dynamodb://eu-west-1", "eu-west-1"),
        ("dynamodb:", "dynamodb"),
        ("dynamodb+http://localhost:8000", "localhost:8000"),
    ],
)
def test_a_url_has_a_short_name(text: str, name: str) -> None:
    assert StoreUrl.parse(text).name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "URL of the store is empty"),
        ("redis://localhost", "no kind of store called redis"),
        ("dynamo://eu-west-1", "no kind of store called dynamo"),
        ("file:", "names no file"),
        ("file://host/zataku.db", "on this machine"),
        ("file:x.db?table=verify", "no option table"),
        ("file:x.db?region=eu-west-1", "no option region"),
        ("dynamodb:eu-west-1", "Write dynamodb://eu-west-1"),
        ("dynamodb://localhost:8000", "dynamodb\\+http://HOST:PORT"),
        ("dynamodb://eu-west-1/table", "no path. Write dynamodb://eu-west-1.$"),
        ("dynamodb://eu-west-1?tables=drop", "tables=drop is not known"),
        ("dynamodb+http:", "names no host"),
        ("dynamodb+http://:8000", "names no host"),
        ("dynamodb+http://localhost:port", "cannot be read"),
        ("dynamodb+http://localhost:99999", "cannot be read"),
        ("dynamodb+http://localhost:8000/path", "has no path"),
        ("dynamodb+http://localhost?verify=1", "no option verify"),
    ],
)
def test_any_other_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        StoreUrl.parse(text)


@pytest.mark.parametrize("text", ["dynamodb://AKIA:hush@eu-west-1", "dynamodb+https://AKIA:hush@db.example"])
def test_credentials_in_a_url_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(BadInput, match="Credentials do not belong") as refused:
        StoreUrl.parse(text)
    assert "hush" not in str(refused.value)


async def test_a_url_opens_a_file(tmp_path: Path) -> None:
    async with await open_store(f"file:{tmp_path}/circle.db", [circle]) as store:
        await store.put(member(1))
    async with await open_store(f"{tmp_path}/circle.db", [circle], read_only=True) as store:
        assert await store.get(member_key(1)) == member(1)
        with pytest.raises(StoreClosed):
            await store.put(member(2))


async def test_with_verify_a_file_must_exist_and_match_the_design(tmp_path: Path) -> None:
    url = f"file:{tmp_path}/circle.db?tables=verify"
    another = Table("Another", pk="PK")
    with pytest.raises(BadInput, match="There is no store"):
        await open_store(url, [circle])
    assert list(tmp_path.iterdir()) == []
    await (await open_store(f"{tmp_path}/circle.db", [circle])).close()
    with pytest.raises(SchemaRefused, match="Another is absent"):
        await open_store(url, [circle, another])
    with pytest.raises(SchemaRefused, match="ReadingCircle: no index GSI9"):
        await open_store(url, [_with_another_index()])
    async with await open_store(url, [circle]) as store:
        await store.put(member(1))


def _with_another_index() -> Table:
    table = Table("ReadingCircle", pk="PK", sk="SK", ttl="expiresAt", stream=circle.stream)
    for index in circle.indexes.values():
        table.index(index.schema.name, pk=index.schema.pk, sk=index.schema.sk, projection=index.schema.projection)
    table.index("GSI9", pk="GSI9PK")
    return table


def test_without_the_extra_a_file_opens_and_dynamodb_names_what_to_install(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "sys.modules['aiobotocore'] = None\n"
        "from zataku.table import TableError, Table, open_store\n"
        "async def main():\n"
        "    await (await open_store('store.db', [Table('Circles', pk='PK')])).close()\n"
        "    await open_store('dynamodb://eu-west-1', [])\n"
        "try:\n"
        "    asyncio.run(main())\n"
        "except TableError as error:\n"
        "    print(error.code, error)\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert completed.stdout.startswith("lacks_capability ")
    assert "pip install 'zataku[aws]'" in completed.stdout
