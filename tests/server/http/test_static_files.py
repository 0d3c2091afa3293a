"""Static files come in the smallest encoding, and nothing outside of their folders is served."""

import pytest

from tests.server.conftest import MakeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_scripts_are_cached_forever_and_sent_in_the_smallest_accepted_encoding(make_client: MakeClient) -> None:
    plain, zipped, best = [
        await make_client(**{"accept-encoding": accepted}).get("/assets/main-1.js")
        for accepted in ("identity", "gzip", "gzip, deflate, br, zstd")
    ]
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert zipped.content == plain.content
    assert best.headers["content-encoding"] == "br"
    assert all(response.headers["vary"] == "Accept-Encoding" for response in (plain, zipped, best))
    refused = await make_client(**{"accept-encoding": "br;q=0, gzip"}).get("/assets/main-1.js")
    assert refused.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/favicon.svg", "image/svg+xml"),
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/static/card.png", "image/png"),
    ],
)
async def test_files_of_the_pages_are_served_without_a_guest_cookie(
    make_client: MakeClient, path: str, kind: str
) -> None:
    response = await make_client().get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == kind
    assert "set-cookie" not in response.headers


async def test_a_file_name_that_is_too_long_is_not_found(make_client: MakeClient) -> None:
    for folder in ("static", "assets"):
        assert (await make_client().get(f"/{folder}/{'a' * 300}")).status_code == 404
