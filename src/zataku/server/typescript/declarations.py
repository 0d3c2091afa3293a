"""The types of the web pages, written from the structs that cross the wire, so that both sides mean the same."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatchmethod
from typing import Any

from msgspec import inspect

HEADING = "// Written by `make types` from the Python structs. Change those, not this file.\n"


SYSTEMS = ("drawing", "othello", "ranking", "live", "kifu")


class Declarations:
    """TypeScript for structs, unions and whatever they consist of, each declared once."""

    def __init__(self, unions: Mapping[str, object]) -> None:
        self._unions = {_members(inspect.type_info(union)): name for name, union in unions.items()}
        self._asked = dict(unions)
        self._structs: dict[str, type] = {}
        self._texts: dict[str, str] = {}

    def name(self, kind: object) -> str:
        """The TypeScript of a type; every struct in it is declared."""
        return self._spelt(inspect.type_info(kind))

    def __str__(self) -> str:
        for name, union in self._asked.items():
            members = inspect.type_info(union)
            assert isinstance(members, inspect.UnionType), f"{name} is no union."
            parts = " | ".join(self._spelt(member) for member in members.types)
            self._texts[name] = f"export type {name} = {parts};\n"
        return "\n".join(self._texts[name] for name in sorted(self._texts))

    @singledispatchmethod
    def _spelt(self, kind: inspect.Type) -> str:
        raise TypeError(f"No TypeScript is known for {kind}.")

    @_spelt.register
    def _(self, kind: inspect.Metadata) -> str:
        return self._spelt(kind.type)

    @_spelt.register
    def _(self, kind: inspect.StructType) -> str:
        name = _called(kind.cls)
        if self._structs.setdefault(name, kind.cls) is not kind.cls:
            raise TypeError(f"Two structs are called {name}. The pages could not tell them apart; rename one.")
        if name not in self._texts:
            # Declared before its fields are looked at, which may lead back to it.
            self._texts[name] = ""
            self._texts[name] = self._interface(kind)
        return name

    @_spelt.register
    def _(self, kind: inspect.UnionType) -> str:
        known = self._unions.get(_members(kind))
        return known or " | ".join(dict.fromkeys(self._spelt(member) for member in kind.types))

    @_spelt.register
    def _(self, kind: inspect.LiteralType) -> str:
        return " | ".join(json.dumps(value) for value in kind.values)

    @_spelt.register(inspect.ListType)
    @_spelt.register(inspect.SetType)
    @_spelt.register(inspect.FrozenSetType)
    @_spelt.register(inspect.VarTupleType)
    def _(self, kind: inspect.ListType | inspect.SetType | inspect.FrozenSetType | inspect.VarTupleType) -> str:
        item = self._spelt(kind.item_type)
        return f"({item})[]" if " " in item else f"{item}[]"

    @_spelt.register
    def _(self, kind: inspect.TupleType) -> str:
        return f"[{', '.join(self._spelt(item) for item in kind.item_types)}]"

    @_spelt.register
    def _(self, kind: inspect.DictType) -> str:
        return f"Record<string, {self._spelt(kind.value_type)}>"

    @_spelt.register(inspect.StrType)
    @_spelt.register(inspect.DateType)
    @_spelt.register(inspect.DateTimeType)
    @_spelt.register(inspect.UUIDType)
    @_spelt.register(inspect.BytesType)
    def _(self, kind: inspect.Type) -> str:  # noqa: ARG002  whichever it is
        return "string"

    @_spelt.register(inspect.IntType)
    @_spelt.register(inspect.FloatType)
    def _(self, kind: inspect.Type) -> str:  # noqa: ARG002  whichever it is
        return "number"

    @_spelt.register
    def _(self, kind: inspect.BoolType) -> str:  # noqa: ARG002  there is one
        return "boolean"

    @_spelt.register
    def _(self, kind: inspect.NoneType) -> str:  # noqa: ARG002  there is one
        return "null"

    @_spelt.register
    def _(self, kind: inspect.CustomType) -> str:
        if kind.cls is not object:
            raise TypeError(f"No TypeScript is known for {kind.cls}.")
        return "unknown"

    @_spelt.register(inspect.AnyType)
    @_spelt.register(inspect.RawType)
    def _(self, kind: inspect.Type) -> str:  # noqa: ARG002  whatever it is
        return "unknown"

    def _interface(self, kind: inspect.StructType) -> str:
        doc = (kind.cls.__doc__ or "").strip().splitlines()
        lines = [f"/** {doc[0]} */"] if doc else []
        lines.append(f"export interface {_called(kind.cls)} {{")
        if kind.tag_field is not None:
            lines.append(f"  {kind.tag_field}: {json.dumps(kind.tag)};")
        lines += [f"  {self._field(kind, field)};" for field in kind.fields]
        return "\n".join([*lines, "}"]) + "\n"

    def _field(self, owner: inspect.StructType, field: inspect.Field) -> str:
        config = owner.cls.__struct_config__
        left_out = not field.required and (config.omit_defaults or config.forbid_unknown_fields)
        kind = field.type
        if left_out and config.omit_defaults and field.default is None:
            kind = _without_none(kind)
        return f"{_quoted(field.encode_name)}{'?' if left_out else ''}: {self._spelt(kind)}"


def _called(struct: type) -> str:
    """The struct's name, after that of its system: every system may have a `Snapshot` of its own."""
    package = struct.__module__.removeprefix("zataku.").partition(".")[0]
    name = struct.__name__
    owner = package.capitalize() if package in SYSTEMS else ""
    return name if name.startswith(owner) else f"{owner}{name}"


def interface(name: str, doc: str, entries: Iterable[tuple[str, str]]) -> str:
    """An interface written out by hand."""
    return "\n".join([f"/** {doc} */", f"export interface {name} {{", *_entries(entries), "}"]) + "\n"


def _entries(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, kind in entries:
        yield f"  {_quoted(name)}: {kind};"


def _quoted(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _without_none(kind: inspect.Type) -> inspect.Type:
    if isinstance(kind, inspect.Metadata):
        return _without_none(kind.type)
    if not isinstance(kind, inspect.UnionType):
        return kind
    rest = tuple(member for member in kind.types if not isinstance(member, inspect.NoneType))
    return rest[0] if len(rest) == 1 else inspect.UnionType(rest)


def _members(kind: inspect.Type) -> frozenset[Any]:
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return frozenset(member.cls if isinstance(member, inspect.StructType) else type(member) for member in members)
