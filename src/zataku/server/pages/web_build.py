"""The built web pages: which files a page needs, as Vite wrote them down."""

import html
from collections.abc import Iterator
from pathlib import Path

import msgspec

WEB = Path(__file__).parents[1] / "web"
ENTRY = "src/main.ts"
OVERLAY = "src/overlay/main.ts"


class Chunk(msgspec.Struct, frozen=True):
    """One script that Vite made, with the styles and further scripts that it needs at once."""

    file: str
    css: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


class WebBuild(msgspec.Struct, frozen=True):
    """What the pages are made of. Without chunks, nobody has built them yet."""

    chunks: dict[str, Chunk] = {}

    @classmethod
    def read(cls, folder: Path) -> "WebBuild":
        """The build in a folder."""
        try:
            written = (folder / ".vite" / "manifest.json").read_bytes()
        except FileNotFoundError:
            return cls()
        return cls(msgspec.json.decode(written, type=dict[str, Chunk]))

    def links(self, *wanted: str, entry: str = ENTRY) -> str:
        """The tags that load styles and scripts: the entry's, and ahead of their use those of the wanted modules."""
        chunks = list(dict.fromkeys(chunk for name in (entry, *wanted) for chunk in self._with_imports(name)))
        script = self.chunks[entry].file
        styles = dict.fromkeys(style for chunk in chunks for style in chunk.css)
        return "\n".join(
            [
                *(f'<link rel="stylesheet" href="/{html.escape(style)}">' for style in styles),
                *(
                    f'<link rel="modulepreload" href="/{html.escape(chunk.file)}">'
                    for chunk in chunks
                    if chunk.file != script
                ),
                f'<script type="module" src="/{html.escape(script)}"></script>',
            ]
        )

    def styles(self) -> str:
        """The tags of the entry's styles alone, for pages that need no script."""
        found = dict.fromkeys(style for chunk in self._with_imports(ENTRY) for style in chunk.css)
        return "\n".join(f'<link rel="stylesheet" href="/{html.escape(style)}">' for style in found)

    def _with_imports(self, name: str, seen: frozenset[str] = frozenset()) -> Iterator[Chunk]:
        chunk = self.chunks.get(name)
        if chunk is None or name in seen:
            return
        yield chunk
        for other in chunk.imports:
            yield from self._with_imports(other, seen | {name})
