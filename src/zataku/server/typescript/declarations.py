"""TypeScript declarations of msgspec types."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatchmethod
from typing import Any

from msgspec import inspect

from zataku.system import System

HEADING = "// Written by `make types` from the Python structs. Change those, not this file.\n"


class Declarations:
    """TypeScript of structs and unions and of the types in them, each declared once.

    A struct of a system is named after its system: every system may have a `Snapshot` of its own.
    """

    def __init__(self, unions: Mapping[str, object], systems: Sequence[System] = ()) -> None:
        self._packages = {system.package: system.name.capitalize() for system in systems}
        self._unions = {_members(inspect.type_info(union)): name for name, union in unions.items()}
        self._requested = dict(unions)
        self._structs: dict[str, type] = {}
        self._declared: dict[str, str] = {}

    def name(self, kind: object) -> str:
        """The TypeScript of a type. Every struct in it is declared."""
        return self._type(inspect.type_info(kind))

    def __str__(self) -> str:
        for name, union in self._requested.items():
            members = inspect.type_info(union)
            assert isinstance(members, inspect.UnionType), f"{name} is not a union."
            parts = " | ".join(self._type(member) for member in members.types)
            self._declared[name] = f"export type {name} = {parts};\n"
        return "\n".join(self._declared[name] for name in sorted(self._declared))

    @singledispatchmethod
    def _type(self, kind: inspect.Type) -> str:
        raise TypeError(f"No TypeScript is known for {kind}.")

    @_type.register
    def _(self, kind: inspect.Metadata) -> str:
        return self._type(kind.type)

    @_type.register
    def _(self, kind: inspect.StructType) -> str:
        name = self._struct_name(kind.cls)
        if self._structs.setdefault(name, kind.cls) is not kind.cls:
            raise TypeError(f"Two structs are called {name}. Rename one of them.")
        if name not in self._declared:
            # Declared before its fields, which may refer to it.
            self._declared[name] = ""
            self._declared[name] = self._interface(kind)
        return name

    @_type.register
    def _(self, kind: inspect.UnionType) -> str:
        name = self._unions.get(_members(kind))
        return name or " | ".join(dict.fromkeys(self._type(member) for member in kind.types))

    @_type.register
    def _(self, kind: inspect.LiteralType) -> str:
        return " | ".join(json.dumps(value) for value in kind.values)

    @_type.register(inspect.ListType)
    @_type.register(inspect.SetType)
    @_type.register(inspect.FrozenSetType)
    @_type.register(inspect.VarTupleType)
    def _(self, kind: inspect.ListType | inspect.SetType | inspect.FrozenSetType | inspect.VarTupleType) -> str:
        item = self._type(kind.item_type)
        return f"({item})[]" if " " in item else f"{item}[]"

    @_type.register
    def _(self, kind: inspect.TupleType) -> str:
        return f"[{', '.join(self._type(item) for item in kind.item_types)}]"

    @_type.register
    def _(self, kind: inspect.DictType) -> str:
        return f"Record<string, {self._type(kind.value_type)}>"

    @_type.register(inspect.StrType)
    @_type.register(inspect.DateType)
    @_type.register(inspect.DateTimeType)
    @_type.register(inspect.UUIDType)
    @_type.register(inspect.BytesType)
    def _(self, kind: inspect.Type) -> str:  # noqa: ARG002  all are the same
        return "string"

    @_type.register(inspect.IntType)
    @_type.register(inspect.FloatType)
    def _(self, kind: inspect.Type) -> str:  # noqa: ARG002  all are the same
        return "number"

    @_type.register
    def _(self, kind: inspect.BoolType) -> str:  # noqa: ARG002  there is only one
        return "boolean"

    @_type.register
    def _(self, kind: inspect.NoneType) -> str:  # noqa: ARG002  there is only one
        return "null"

    @_type.register
    def _(self, kind: inspect.CustomType) -> str:
        if kind.cls is not object:
            raise TypeError(f"No TypeScript is known for {kind.cls}.")
        return "unknown"

    @_type.register(inspect.AnyType)
    @_type.register(inspect.RawType)
    def _(self, kind: inspect.Type) -> str:  # noqa: ARG002  all are the same
        return "unknown"

    def _struct_name(self, struct: type) -> str:
        module = f"{struct.__module__}."
        owner = next((name for package, name in self._packages.items() if module.startswith(f"{package}.")), "")
        name = struct.__name__
        return name if name.startswith(owner) else f"{owner}{name}"

    def _interface(self, kind: inspect.StructType) -> str:
        doc = (kind.cls.__doc__ or "").strip().splitlines()
        lines = [f"/** {doc[0]} */"] if doc else []
        lines.append(f"export interface {self._struct_name(kind.cls)} {{")
        if kind.tag_field is not None:
            lines.append(f"  {kind.tag_field}: {json.dumps(kind.tag)};")
        lines += [f"  {self._field(kind, field)};" for field in kind.fields]
        return "\n".join([*lines, "}"]) + "\n"

    def _field(self, owner: inspect.StructType, field: inspect.Field) -> str:
        config = owner.cls.__struct_config__
        is_optional = not field.required and (config.omit_defaults or config.forbid_unknown_fields)
        kind = field.type
        if is_optional and config.omit_defaults and field.default is None:
            kind = _without_none(kind)
        return f"{_quoted(field.encode_name)}{'?' if is_optional else ''}: {self._type(kind)}"


def interface(name: str, doc: str, entries: Iterable[tuple[str, str]]) -> str:
    """A TypeScript interface with these members."""
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
    members = tuple(member for member in kind.types if not isinstance(member, inspect.NoneType))
    return members[0] if len(members) == 1 else inspect.UnionType(members)


def _members(kind: inspect.Type) -> frozenset[Any]:
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return frozenset(member.cls if isinstance(member, inspect.StructType) else type(member) for member in members)
