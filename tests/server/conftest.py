"""The application without a network, for tests of its answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from zataku.server.app import create_app
from zataku.server.settings import Settings


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[TestClient[Litestar]]:
    with TestClient(create_app(Settings(data_directory=tmp_path)), raise_server_exceptions=False) as client:
        yield client
