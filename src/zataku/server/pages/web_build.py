"""The built web app: which files a page loads, read from Vite's manifest."""

import html
from collections.abc import Iterator
from pathlib import Path

import msgspec

WEB_FOLDER = Path(__file__).parents[1] / "web"
APP_ENTRY = "src/main.ts"


class Chunk(msgspec.Struct, frozen=True):
    """A script of the build, with the styles and further scripts that it needs at once."""

    file: str
    css: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


class WebBuild(msgspec.Struct, frozen=True):
    """The chunks of a build by their modules; none while the web app is not built."""

    chunks: dict[str, Chunk] = {}

    @classmethod
    def read(cls, folder: Path) -> "WebBuild":
        """The build in a folder."""
        try:
            manifest = (folder / ".vite" / "manifest.json").read_bytes()
        except FileNotFoundError:
            return cls()
        return cls(msgspec.json.decode(manifest, type=dict[str, Chunk]))

    def links(self, *preloaded: str, entry: str = APP_ENTRY) -> str:
        """The tags that load an entry's styles and scripts, and those of modules that it imports later."""
        chunks = list(dict.fromkeys(chunk for name in (entry, *preloaded) for chunk in self._with_imports(name)))
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
        """The tags of the app's styles alone, for pages without scripts."""
        styles = dict.fromkeys(style for chunk in self._with_imports(APP_ENTRY) for style in chunk.css)
        return "\n".join(f'<link rel="stylesheet" href="/{html.escape(style)}">' for style in styles)

    def _with_imports(self, name: str, seen: frozenset[str] = frozenset()) -> Iterator[Chunk]:
        chunk = self.chunks.get(name)
        if chunk is None or name in seen:
            return
        yield chunk
        for imported in chunk.imports:
            yield from self._with_imports(imported, seen | {name})
