"""TypeScript declarations of structs and unions."""

from typing import Annotated, Literal

import pytest
from msgspec import Meta, Raw, Struct

from zataku.server.typescript.declarations import Declarations


class Seat(Struct, rename="camel", omit_defaults=True):
    """The place of a player.

    Only the first line is written.
    """

    seat_number: Annotated[int, Meta(ge=1)]
    name: str | None = None
    tags: list[Literal["host", "guest"]] = []


class Sit(Struct, tag="sit", tag_field="k", forbid_unknown_fields=True):
    seat: Seat
    beside: "Sit | None" = None


class Stand(Struct, tag="stand", tag_field="k"):
    why: Raw
    scores: dict[str, tuple[int, float]] = {}


def test_a_struct_becomes_an_interface_with_its_wire_names() -> None:
    declarations = Declarations({})
    assert declarations.name(list[Seat]) == "Seat[]"
    assert str(declarations) == (
        "/** The place of a player. */\n"
        "export interface Seat {\n"
        "  seatNumber: number;\n"
        "  name?: string;\n"
        '  tags?: ("guest" | "host")[];\n'
        "}\n"
    )


def test_a_union_is_declared_and_used_by_its_name() -> None:
    declarations = Declarations({"Command": Sit | Stand})
    assert declarations.name(list[Sit | Stand]) == "Command[]"
    text = str(declarations)
    assert "export type Command = Sit | Stand;" in text
    assert '  k: "sit";\n  seat: Seat;\n  beside?: Sit | null;\n' in text
    # A default that is sent is a required field.
    assert "  why: unknown;\n  scores: Record<string, [number, number]>;\n" in text


def test_a_type_without_typescript_is_refused() -> None:
    with pytest.raises(TypeError, match="No TypeScript"):
        Declarations({}).name(complex)


def test_two_structs_of_one_name_are_refused() -> None:
    other = type("Seat", (Struct,), {"__annotations__": {"x": int}})
    declarations = Declarations({})
    declarations.name(Seat)
    with pytest.raises(TypeError, match="Two structs are called Seat"):
        declarations.name(other)
