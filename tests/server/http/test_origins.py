"""Only the server's own pages may write."""

import pytest

from zataku.errors import Forbidden
from zataku.server.http.origins import Origins
from zataku.server.http.request_context import RequestContext

PUBLIC_URL = "https://table.example.org"


@pytest.mark.parametrize(
    ("public_url", "host", "headers", "allowed"),
    [
        (PUBLIC_URL, "table.example.org", {"origin": PUBLIC_URL, "cookie": "a=b"}, True),
        (PUBLIC_URL + "/", "table.example.org", {"origin": PUBLIC_URL, "cookie": "a=b"}, True),
        (PUBLIC_URL + ":443", "table.example.org", {"origin": PUBLIC_URL, "cookie": "a=b"}, True),
        (PUBLIC_URL, "table.example.org", {"origin": "http://table.example.org"}, False),
        (PUBLIC_URL, "table.example.org", {"origin": "https://evil.example.org", "cookie": "a=b"}, False),
        (PUBLIC_URL, "table.example.org", {"origin": "https://table.example.org.evil.com"}, False),
        (PUBLIC_URL, "table.example.org", {"origin": "null"}, False),
        (PUBLIC_URL, "127.0.0.1:8000", {"origin": "http://127.0.0.1:8000"}, False),
        ("", "127.0.0.1:8000", {"origin": "http://127.0.0.1:8000"}, True),
        ("", "192.168.1.5:8000", {"origin": "http://192.168.1.5:8000"}, True),
        ("", "192.168.1.5:8000", {"origin": "http://192.168.1.6:8000"}, False),
        ("", "192.168.1.5:8000", {"origin": "http://192.168.1.5:9000"}, False),
        ("", "rebound.example.com:8000", {"origin": "http://rebound.example.com:8000"}, False),
        ("", "localhost:8000", {"sec-fetch-site": "same-origin", "cookie": "a=b"}, True),
        ("", "localhost:8000", {"sec-fetch-site": "none", "cookie": "a=b"}, True),
        ("", "localhost:8000", {"sec-fetch-site": "cross-site", "cookie": "a=b"}, False),
        ("", "localhost:8000", {"sec-fetch-site": "same-site"}, False),
        ("", "localhost:8000", {"cookie": "a=b"}, False),
        ("", "localhost:8000", {}, True),
        ("", "localhost:8000", {"authorization": "Bearer zk_1", "origin": "https://evil.example.org"}, True),
        ("", "localhost:8000", {"authorization": "Bearer zk_1", "cookie": "a=b"}, False),
    ],
)
def test_only_pages_of_this_server_may_write(public_url: str, host: str, headers: dict[str, str], allowed: bool):
    context = RequestContext(id="1", address="192.168.1.9", is_secure=False, host=host, is_local=False, is_direct=False)
    origins = Origins(public_url)
    if allowed:
        origins.check(context, headers)
    else:
        with pytest.raises(Forbidden, match=r"another address|Origin"):
            origins.check(context, headers)


def test_in_development_a_page_of_another_port_may_write():
    context = RequestContext(
        id="1", address="127.0.0.1", is_secure=False, host="127.0.0.1:8000", is_local=True, is_direct=True
    )
    Origins("", is_development=True).check(context, {"origin": "http://localhost:5173", "cookie": "a=b"})
    with pytest.raises(Forbidden):
        Origins("", is_development=True).check(context, {"origin": "http://localhost.evil.com", "cookie": "a=b"})
