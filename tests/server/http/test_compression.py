"""Pages are compressed on their way out."""

import pytest

from tests.server.conftest import MakeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_pages_are_compressed_for_browsers_that_accept_it(make_client: MakeClient) -> None:
    for refusing in ("gzip;q=0", "identity", "br"):
        assert "content-encoding" not in (await make_client(**{"accept-encoding": refusing}).get("/")).headers
    answer = await make_client(**{"accept-encoding": "gzip"}).get("/")
    assert answer.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["vary"]
    assert "</html>" in answer.text
    assert "content-encoding" not in (await make_client(**{"accept-encoding": "gzip"}).get("/api/me")).headers
    assert "content-encoding" not in (await make_client(**{"accept-encoding": "identity"}).get("/")).headers
