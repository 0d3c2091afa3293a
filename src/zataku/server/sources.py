"""Where settings come from: what was typed wins over variables, these over the file, and the file over the defaults."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from zataku.server.settings import BadSetting, Settings, meanings

FILE = "zataku.toml"
PREFIX = "ZATAKU_"
DEFAULT = "default"
NAMES = tuple(Settings.__struct_fields__)
_PLACE = re.compile(r" - at `\$\.(\w+)[^`]*`$")


class Gathered(msgspec.Struct, frozen=True):
    """The settings, and where each of them came from."""

    settings: Settings
    sources: dict[str, str]


def gathered(flags: Mapping[str, object], environment: Mapping[str, str], config: str | None = None) -> Gathered:
    """Put the settings together. `flags` has only what was typed; a value that cannot be is refused with its place."""
    values: dict[str, object] = {}
    sources = dict.fromkeys(NAMES, DEFAULT)
    named = config or environment.get(f"{PREFIX}CONFIG") or None
    for source, found in (
        (named or FILE, _from_file(named)),
        (PREFIX, _from_environment(environment)),
        ("--", dict(flags)),
    ):
        for name, value in found.items():
            values[name] = value
            sources[name] = _place(source, name)
    return Gathered(_settled(values, sources), sources)


def _from_file(named: str | None) -> dict[str, object]:
    path = Path(named or FILE)
    try:
        found: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if named is None:
            return {}
        raise BadSetting(f"There is no file {path}. Check --config and {PREFIX}CONFIG.", file=str(path)) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise BadSetting(f"{path} cannot be read: {problem}.", file=str(path)) from None
    for name in found:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, 1)
            hint = f"Did you mean {near[0]}?" if near else "`zataku settings` lists all there are."
            raise BadSetting(f"{path}: there is no setting {name}. {hint}", file=str(path), setting=name)
    return found


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in NAMES:
        text = environment.get(PREFIX + name.upper())
        if text is not None:
            # A list is written as one text, parted by commas.
            found[name] = [part.strip() for part in text.split(",") if part.strip()] if name == "proxies" else text
    return found


def _settled(values: dict[str, object], sources: Mapping[str, str]) -> Settings:
    # Variables are texts whatever they mean; a file and flags have types of their own.
    loose = {name for name, source in sources.items() if source.startswith(PREFIX)}
    try:
        for name in loose:
            one = msgspec.defstruct("One", [(name, Settings.__annotations__[name])])
            values[name] = getattr(msgspec.convert({name: values[name]}, one, strict=False), name)
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as problem:
        text = str(problem)
        place = _PLACE.search(text)
        name = place[1] if place else ""
        said = f"{sources.get(name, name)}: {_PLACE.sub('', text)}. {meanings().get(name, '')}"
        raise BadSetting(said.rstrip(), setting=name) from None
    except BadSetting as refused:
        name = str(refused.details.get("setting", ""))
        raise BadSetting(f"{sources[name]}: {refused.message}", setting=name) from None


def _place(source: str, name: str) -> str:
    if source == PREFIX:
        return PREFIX + name.upper()
    if source == "--":
        return "--" + name.replace("_", "-")
    return f"{source}, {name}"
