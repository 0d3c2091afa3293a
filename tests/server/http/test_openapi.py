"""The OpenAPI document describes every operation."""

import pytest

from tests.server.conftest import MakeClient

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
