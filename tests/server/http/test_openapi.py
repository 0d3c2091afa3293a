"""The OpenAPI document describes every operation."""

import pytest

from tests.server.conftest import MakeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_every_operation_is_described_with_the_same_error(make_client: MakeClient) -> None:
    schema = (await make_client().get("/openapi.json")).json()
    assert schema["info"]["title"] == "Zataku"
    operations = [each for path in schema["paths"].values() for each in path.values()]
    names = [each["operationId"] for each in operations]
    assert len(names) > 20
    assert len(set(names)) == len(names)
    for each in operations:
        assert each["responses"]["default"] == {"$ref": "#/components/responses/Error"}
        assert [status for status in each["responses"] if status >= "400" and status != "default"] == []
        assert each["tags"]
        assert each.get("summary")
        # Who is calling comes from cookies and keys, and is nothing to be filled in.
        assert "identity" not in {parameter["name"] for parameter in each.get("parameters", [])}
    assert schema["components"]["securitySchemes"].keys() == {"session", "guest", "key"}
