"""Options that several commands share."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from zataku.table import StoreUrl, Table
from zataku.table.schema.design_catalogue import Design, find_designs, no_designs_error

Designs = Annotated[
    list[str],
    Parameter(
        name="--designs",
        negative="",
        help="A module or Python file that declares tables; may be given again. Beside it, the designs of installed "
        "packages and of the variable ZATAKU_DESIGNS are found.",
    ),
]
Env = Annotated[
    str,
    Parameter(name="--env", help="Environment; outside prod the name of every table ends in it."),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Where:
    """The store that a command is about, and the tables in it."""

    store: Annotated[
        str,
        Parameter(
            env_var="ZATAKU_STORE",
            help="A path, file:PATH, dynamodb:, dynamodb://REGION or dynamodb+http://HOST:PORT.",
        ),
    ] = "data/zataku.db"
    env: Env = "prod"
    designs: Designs | None = None

    @property
    def place(self) -> StoreUrl:
        """The store's place."""
        return StoreUrl.parse(self.store)

    def found(self) -> list[Design]:
        """All designs there are, perhaps none."""
        return find_designs(self.designs or ())

    def tables(self) -> list[Table]:
        """The tables of all designs; none at all is refused."""
        found = self.known_tables()
        if not found:
            raise no_designs_error()
        return found

    def known_tables(self) -> list[Table]:
        """The tables of all designs, perhaps none."""
        return list(dict.fromkeys(table for design in self.found() for table in design.tables))


HERE = Where()
