"""Size budgets of the built pages, compressed: the first visit, each page, and the overlay."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import zataku.server

WEB = Path(zataku.server.__file__).parent / "web"
KB = 1000
ENTRY, HOME = "src/main.ts", "src/pages/home/Page.svelte"
LIVE = "src/pages/live/Page.svelte"
LANGUAGES = ("ja", "ko", "en")
HEAVIER = {"src/pages/kifu/Page.svelte": 60}
"""Pages that may weigh more than the 40 KB of the others."""


class Chunk(msgspec.Struct):
    file: str
    css: list[str] = []
    assets: list[str] = []
    imports: list[str] = []


@pytest.fixture(scope="module")
def chunks() -> dict[str, Chunk]:
    manifest = WEB / ".vite" / "manifest.json"
    assert manifest.exists(), "The pages are not built. Run scripts/web.sh."
    return msgspec.json.decode(manifest.read_bytes(), type=dict[str, Chunk])


def files(chunks: dict[str, Chunk], *names: str) -> set[str]:
    """All files that the page needs to load these chunks."""

    def needed(name: str, seen: frozenset[str]) -> Iterator[str]:
        chunk = chunks[name]
        yield from (chunk.file, *chunk.css, *chunk.assets)
        for imported in chunk.imports:
            if imported not in seen:
                yield from needed(imported, seen | {name})

    return {file for name in names for file in needed(name, frozenset())}


def weight(names: set[str], suffix: str, endings: tuple[str, ...] = ("",)) -> int:
    """The compressed size of files; a file without a compressed form counts uncompressed."""
    paths = ((WEB / f"{name}{suffix}", WEB / name) for name in names if name.endswith(endings))
    return sum((small if small.exists() else plain).stat().st_size for small, plain in paths)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_first_visit_fetches_less_than_100_kilobytes(chunks: dict[str, Chunk], language: str):
    first = files(chunks, ENTRY, HOME, f"src/texts/{language}.ts")
    assert weight(first, ".br") < 100 * KB
    assert weight(first, ".gz") < 100 * KB


def test_the_shell_and_the_home_page_keep_their_budget(chunks: dict[str, Chunk]):
    shell = files(chunks, ENTRY, HOME)
    assert weight(shell, ".gz", (".js",)) <= 45 * KB
    assert weight(shell, ".gz", (".css",)) <= 12 * KB


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_phone_in_the_audience_fetches_at_most_80_kilobytes(chunks: dict[str, Chunk], language: str):
    audience = files(chunks, ENTRY, LIVE, f"src/texts/{language}.ts")
    assert weight(audience, ".gz") <= 80 * KB
    for part in ("src/pages/live/host/index.ts", "src/pages/live/archive/Archive.svelte"):
        assert chunks[part].file not in audience, f"{part} is loaded at once"


def test_no_page_adds_more_than_its_budget(chunks: dict[str, Chunk]):
    shell = files(chunks, ENTRY)
    pages = [name for name in chunks if name.startswith("src/pages/") and name.endswith("/Page.svelte")]
    assert len(pages) >= 10
    for name in pages:
        assert weight(files(chunks, name) - shell, ".gz") <= HEAVIER.get(name, 40) * KB, name


def test_the_chart_library_is_loaded_only_with_a_chart(chunks: dict[str, Chunk]):
    library = chunks["src/components/charts/plot.ts"].file
    for name in (ENTRY, *(name for name in chunks if name.endswith("/Page.svelte"))):
        assert library not in files(chunks, name)


def test_every_large_text_file_is_built_compressed_too():
    built = [path for path in (WEB / "assets").iterdir() if path.suffix in (".js", ".css", ".svg")]
    assert built
    for path in built:
        if path.stat().st_size > KB:
            assert path.with_name(f"{path.name}.br").exists(), path.name
            assert path.with_name(f"{path.name}.gz").exists(), path.name


def test_the_overlay_weighs_at_most_30_kilobytes_and_shares_only_the_socket_with_the_app(chunks: dict[str, Chunk]):
    overlay = files(chunks, "src/overlay/main.ts")
    assert weight(overlay, ".gz", (".js", ".css")) <= 30 * KB
    shared = overlay & files(chunks, ENTRY)
    assert [name.split("/")[-1].split("-")[0] for name in shared] == ["socket"]
