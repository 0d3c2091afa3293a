"""The designs that are available: modules that declare tables, of installed packages or named by the caller.

A package offers its designs under the entry-point group `zataku.designs`, each a module:

    [project.entry-points."zataku.designs"]
    circle = "reading_circle.design"

A module called `design` has the name of its package. It may keep its declared writes in a module `writes` next to it,
which is then loaded too, and the examples of its document in a module `samples`: `examples()` returns entities.
"""

import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from msgspec import Struct

from zataku.table.backend.errors import BadInput, DesignError, TableError
from zataku.table.schema.design_notes import Departure
from zataku.table.schema.entity import Entity
from zataku.table.schema.table import Table
from zataku.table.store.permissions import PermissionMatrix

GROUP = "zataku.designs"
VARIABLE = "ZATAKU_DESIGNS"
EXAMPLE = "examples/reading_circle.py"


class Design(Struct, frozen=True):
    """What one module declares: its tables, the permissions on them, and its documentation.

    `TITLE` in the module heads its document, and `DEPARTURES` lists where it differs from the document it follows.
    """

    name: str
    tables: tuple[Table, ...]
    matrix: PermissionMatrix | None = None
    doc: str = ""
    origin: str = ""
    title: str = ""
    departures: tuple[Departure, ...] = ()
    module: str = ""


def find_designs(named: Sequence[str] = (), environment: Mapping[str, str] = os.environ) -> list[Design]:
    """The designs of ZATAKU_DESIGNS and the named ones; where none is named, those of installed packages.

    A name is a dotted module, or the path of a Python file.
    """
    names = [*_split_names(environment.get(VARIABLE, "")), *named]
    if not names:
        return _without_repeats(
            [_design(entry.name, load_design(entry.value)) for entry in sorted(entry_points(group=GROUP))]
        )
    designs: list[Design] = []
    for text in names:
        name = _module_of_file(Path(text)) if _is_path(text) else text
        module = load_file(Path(text)) if name is None else load_design(name)
        designs.append(_design(Path(text).stem if name is None else _design_name(name), module))
    return _without_repeats(designs)


def no_designs_error() -> BadInput:
    """The error for a command that finds no design at all."""
    return BadInput(
        f"There is no design. Name one with --designs MODULE_OR_FILE or {VARIABLE}, for example "
        f"--designs {EXAMPLE}, or install a package that offers some."
    )


def select_designs(designs: Sequence[Design], names: Iterable[str]) -> list[Design]:
    """The designs of these names, in this order; a name may also be that of one of a design's tables."""
    selected: list[Design] = []
    for name in names:
        matches = [design for design in designs if design.name == name]
        matches = matches or [design for design in designs if name in {table.name for table in design.tables}]
        if not matches:
            existing = ", ".join(design.name for design in designs)
            raise no_designs_error() if not designs else BadInput(f"There is no design {name}. There are: {existing}.")
        selected += [design for design in matches if design not in selected]
    return selected


def load_design(name: str) -> ModuleType:
    """Import a design by its dotted name, with its writes when they are in a module next to it."""
    module = load_module(name)
    package, _, last = name.rpartition(".")
    if last == "design" and package and importlib.util.find_spec(f"{package}.writes") is not None:
        load_module(f"{package}.writes")
    return module


def load_examples(design: Design) -> list[Entity]:
    """The entities that the document of a design shows: `examples()` of the module `samples` next to it, if any."""
    package, _, last = design.module.rpartition(".")
    if last != "design" or not package or importlib.util.find_spec(f"{package}.samples") is None:
        return []
    return list(load_module(f"{package}.samples").examples())


def load_module(name: str) -> ModuleType:
    """Import a design by its dotted name."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        # An installed command does not search the current folder, where a design often is.
        sys.path.append(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is not None and (name == missing.name or name.startswith(missing.name + ".")):
            raise BadInput(f"There is no module {name}. Check its name, or give the path of a file.") from None
        raise _load_error(name, missing) from missing
    except Exception as problem:
        # A design is foreign code and may raise anything.
        raise _load_error(name, problem) from problem


def load_file(path: Path) -> ModuleType:
    """Import a design from a file, once."""
    full = path.resolve()
    if not full.is_file():
        raise BadInput(f"There is no file {path}. Check the path.")
    # Named after its whole path, so that two files called design.py do not collide.
    name = "zataku_design" + re.sub(r"\W", "_", str(full.with_suffix("")))
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, full)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path} is not a Python file. Give one that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    # Annotations are looked up in the module while its classes are being made.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        # A design is foreign code and may raise anything.
        del sys.modules[name]
        raise _load_error(str(path), problem) from problem
    return module


def _design(name: str, module: ModuleType) -> Design:
    values = list(vars(module).values())
    tables = tuple(dict.fromkeys(value for value in values if isinstance(value, Table)))
    matrices = list({id(value): value for value in values if isinstance(value, PermissionMatrix)}.values())
    origin = getattr(module, "__file__", None) or module.__name__
    if not tables:
        raise DesignError(f"{origin} declares no table. A design has at least one zataku.table.Table.")
    if len(matrices) > 1:
        raise DesignError(f"{origin} declares {len(matrices)} permission matrices. Put them into one.")
    return Design(
        name,
        tables,
        matrices[0] if matrices else None,
        (module.__doc__ or "").strip(),
        origin,
        getattr(module, "TITLE", name),
        tuple(getattr(module, "DEPARTURES", ())),
        module.__name__,
    )


def _without_repeats(designs: Sequence[Design]) -> list[Design]:
    by_name: dict[str, Design] = {}
    for design in designs:
        first = by_name.setdefault(design.name, design)
        if first.origin != design.origin:
            raise DesignError(f"Two designs are called {design.name}: {first.origin} and {design.origin}. Rename one.")
    return list(by_name.values())


def _design_name(module: str) -> str:
    """The name of a design: `circle` for `circle.design` as well."""
    *packages, last = module.split(".")
    return packages[-1] if last == "design" and packages else last


def _module_of_file(path: Path) -> str | None:
    """The module of a file in a package that can be imported from here; None for any other file."""
    parts, folder = [path.stem], path.resolve().parent
    while (folder / "__init__.py").is_file():
        parts, folder = [folder.name, *parts], folder.parent
    name = ".".join(parts)
    try:
        spec = importlib.util.find_spec(name) if len(parts) > 1 else None
    except ModuleNotFoundError:
        return None
    return name if spec is not None and spec.origin and Path(spec.origin) == path.resolve() else None


def _is_path(text: str) -> bool:
    return text.endswith(".py") or "/" in text or os.sep in text


def _split_names(text: str) -> list[str]:
    return [part.strip() for part in re.split(f"[,{re.escape(os.pathsep)}]", text) if part.strip()]


def _load_error(design: str, problem: Exception) -> TableError:
    if isinstance(problem, TableError):
        return DesignError(f"The design {design} is refused. {problem.message}")
    if isinstance(problem, SyntaxError):
        return DesignError(f"The design {design} cannot be read: {problem}.")
    frame = traceback.extract_tb(problem.__traceback__)[-1]
    location = f"{frame.filename}, line {frame.lineno}"
    return DesignError(f"The design {design} cannot be loaded: {type(problem).__name__}: {problem} ({location}).")
