"""The command that prints the settings."""

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from zataku.server.settings import LoadedSettings


def settings(
    *, config: str | None = None, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False
) -> int:
    """Show every setting: its value, where that comes from, its default and its meaning.

    Parameters
    ----------
    config
        File with settings, instead of zataku.toml.
    as_json
        Print JSON.
    """
    from zataku.cli.output import print_columns
    from zataku.server.settings import Settings, mask_secret, setting_descriptions

    loaded = load_or_explain({}, config)
    if loaded is None:
        return 1
    defaults = Settings()
    rows = [
        {
            "setting": name,
            "value": mask_secret(name, getattr(loaded.settings, name)),
            "source": loaded.sources[name],
            "default": getattr(defaults, name),
            "meaning": description,
        }
        for name, description in setting_descriptions().items()
    ]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        print_columns(tuple(rows[0]), [tuple(map(_format, row.values())) for row in rows])
    return 0


def load_or_explain(flags: Mapping[str, object], config: str | None) -> "LoadedSettings | None":
    """The effective settings. An invalid one is reported on standard error."""
    from zataku.server.settings import BadSetting, load_settings

    try:
        return load_settings(flags, os.environ, config)
    except BadSetting as error:
        print(f"zataku: {error.message} ({error.code})", file=sys.stderr)
        return None


def _format(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(str(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  anything prints
        case _:
            return str(value)
