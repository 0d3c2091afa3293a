"""Pages made of a template and the words of one language."""

import html
import tomllib
from functools import cache
from pathlib import Path
from string import Template

from litestar import MediaType, Request, Response
from litestar.datastructures import State

from zataku import __version__
from zataku.server.languages import LANGUAGES, Language, chosen

HERE = Path(__file__).parent


def language_of(request: Request[object, object, State]) -> Language:
    """The language to answer in: `?lang=` wins over what the browser prefers."""
    return chosen(request.query_params.get("lang"), request.headers.get("accept-language"))


def page(language: Language, text: str, status: int = 200) -> Response[str]:
    """An HTML answer that says which language it is in, so that caches keep the three apart."""
    headers = {"Content-Language": language, "Vary": "Accept, Accept-Language", "Cache-Control": "no-cache"}
    return Response(text, status_code=status, media_type=MediaType.HTML, headers=headers)


@cache
def words(language: Language) -> dict[str, str]:
    """Every sentence of the pages in one language."""
    return tomllib.loads((HERE / "words" / f"{language}.toml").read_text(encoding="utf-8"))


def filled(template: str, language: Language, **more: str) -> str:
    """The page in that language. A word the template asks for and nobody wrote is an error."""
    current = {f"current_{other}": ' aria-current="true"' if other == language else "" for other in LANGUAGES}
    plain = {"language": language, "version": __version__, **words(language), **more}
    return _template(template).substitute(current, **{name: html.escape(text) for name, text in plain.items()})


@cache
def _template(name: str) -> Template:
    return Template((HERE / "templates" / name).read_text(encoding="utf-8"))
