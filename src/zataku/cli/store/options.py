"""Options of the commands that work on a store: the store, the environment, the designs."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from zataku.table import StoreUrl, Table
from zataku.table.design_catalogue import find_designs, no_designs_error

Designs = Annotated[
    list[str],
    Parameter(
        name="--designs",
        negative="",
        help="A module or Python file that declares tables; may be given again. It is added to those of the variable "
        "ZATAKU_DESIGNS. Without either, the designs of installed packages are used.",
    ),
]
Env = Annotated[
    str,
    Parameter(name="--env", help="Environment; outside prod the name of every table ends in it."),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class StoreOptions:
    """The store of a command, and the tables in it."""

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
    def url(self) -> StoreUrl:
        """The parsed address of the store."""
        return StoreUrl.parse(self.store)

    def tables(self) -> list[Table]:
        """The tables of all designs; an error when there are none."""
        tables = self.known_tables()
        if not tables:
            raise no_designs_error()
        return tables

    def known_tables(self) -> list[Table]:
        """The tables of all designs, or none."""
        return list(dict.fromkeys(table for design in find_designs(self.designs or ()) for table in design.tables))


DEFAULT_STORE = StoreOptions()

# Off by default; there is no negative form.
Flag = Annotated[bool, Parameter(negative="")]
