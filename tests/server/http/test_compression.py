"""The compression of pages."""

import pytest

from tests.server.conftest import MakeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_pages_are_compressed_for_browsers_that_accept_it(make_client: MakeClient) -> None:
    for accepted in ("gzip;q=0", "identity", "br"):
        assert "content-encoding" not in (await make_client(**{"accept-encoding": accepted}).get("/")).headers
    response = await make_client(**{"accept-encoding": "gzip"}).get("/")
    assert response.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in response.headers["vary"]
    assert "</html>" in response.text
    assert "content-encoding" not in (await make_client(**{"accept-encoding": "gzip"}).get("/api/me")).headers
    assert "content-encoding" not in (await make_client(**{"accept-encoding": "identity"}).get("/")).headers
