"""The generated TypeScript of the web pages is current."""

from pathlib import Path

from zataku.server.typescript.generate import current_types

GENERATED = Path(__file__).parents[3] / "web" / "src" / "generated.ts"


async def test_the_types_of_the_pages_are_current() -> None:
    assert GENERATED.read_text(encoding="utf-8") == await current_types(), "Stale. Run: make types"
