"""The OpenAPI document describes every operation."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest

from tests.server.conftest import MakeClient

TRANSLATIONS = Path(__file__).parents[3] / "web/src/pages/docs/translations"
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_every_operation_is_described_with_the_same_error(make_client: MakeClient) -> None:
    schema = (await make_client().get("/openapi.json")).json()
    assert schema["info"]["title"] == "Zataku"
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) > 20
    assert len(set(names)) == len(names)
    for operation in operations:
        assert operation["responses"]["default"] == {"$ref": "#/components/responses/Error"}
        assert [status for status in operation["responses"] if status >= "400" and status != "default"] == []
        assert operation["tags"]
        assert operation.get("summary")
        # The identity comes from cookies and keys; it is not a parameter.
        assert "identity" not in {parameter["name"] for parameter in operation.get("parameters", [])}
    assert schema["components"]["securitySchemes"].keys() == {"session", "guest", "key"}


def paragraphs(text: str | None) -> set[str]:
    return {" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n") if paragraph.strip()}


def field_descriptions(schema: object) -> set[str]:
    """The descriptions of all fields in a schema and below it."""
    if isinstance(schema, list):
        return {text for part in cast("list[object]", schema) for text in field_descriptions(part)}
    if not isinstance(schema, dict):
        return set()
    parts = cast("dict[str, Any]", schema)
    own = {text for field in parts.get("properties", {}).values() for text in paragraphs(field.get("description"))}
    return own | {text for part in parts.values() for text in field_descriptions(part)}


async def test_the_page_of_the_api_has_every_sentence_in_every_language(make_client: MakeClient) -> None:
    schema = (await make_client().get("/openapi.json")).json()
    sentences = field_descriptions(schema["components"]["schemas"])
    for tag in schema["tags"]:
        sentences |= paragraphs(tag["description"])
    for operation in (operation for path in schema["paths"].values() for operation in path.values()):
        sentences |= paragraphs(operation["summary"]) | paragraphs(operation.get("description"))
        for parameter in operation.get("parameters", []):
            sentences |= paragraphs(parameter.get("description") or parameter["schema"].get("description"))
    assert len(sentences) > 100
    for language in ("ja", "ko"):
        translations = json.loads((TRANSLATIONS / f"{language}.json").read_text("utf-8"))
        # Written by their English text: a changed sentence needs its translation anew.
        assert sentences - translations.keys() == set(), f"{language} lacks these"
        assert translations.keys() - sentences == set(), f"{language} has these for nothing"
        assert all(translations.values())
        for english, translated in translations.items():
            assert set(re.findall(r"`[^`]+`", english)) == set(re.findall(r"`[^`]+`", translated)), english
