"""TypeScript declarations of structs and unions."""

from typing import Annotated, Literal

import pytest
from msgspec import Meta, Raw, Struct

from zataku.server.typescript.declarations import Declarations


class Seat(Struct, rename="camel", omit_defaults=True):
    """Where somebody sits.

    More that no page needs.
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
    declared = Declarations({})
    assert declared.name(list[Seat]) == "Seat[]"
    assert str(declared) == (
        "/** Where somebody sits. */\n"
        "export interface Seat {\n"
        "  seatNumber: number;\n"
        "  name?: string;\n"
        '  tags?: ("guest" | "host")[];\n'
        "}\n"
    )


def test_a_union_is_declared_by_its_name_and_used_by_it() -> None:
    declared = Declarations({"Command": Sit | Stand})
    assert declared.name(list[Sit | Stand]) == "Command[]"
    text = str(declared)
    assert "export type Command = Sit | Stand;" in text
    assert '  k: "sit";\n  seat: Seat;\n  beside?: Sit | null;\n' in text
    # What is not left out on the wire is always there.
    assert "  why: unknown;\n  scores: Record<string, [number, number]>;\n" in text


def test_a_type_without_typescript_is_refused() -> None:
    with pytest.raises(TypeError, match="No TypeScript"):
        Declarations({}).name(complex)


def test_two_structs_of_one_name_are_refused() -> None:
    other = type("Seat", (Struct,), {"__annotations__": {"x": int}})
    declared = Declarations({})
    declared.name(Seat)
    with pytest.raises(TypeError, match="Two structs are called Seat"):
        declared.name(other)
