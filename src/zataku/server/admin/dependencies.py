"""What the handlers of the admin page share, and who may use them."""

from typing import TypeAlias

import msgspec
import structlog
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from zataku.errors import Forbidden
from zataku.jobs.administration import JobAdministration
from zataku.platform.identity import Identity
from zataku.server.admin.accounts import People
from zataku.server.admin.backups import Copies
from zataku.server.admin.history import History
from zataku.server.admin.jobs import JobList
from zataku.server.admin.overview import Glance
from zataku.server.admin.tables.stats import Figures
from zataku.table import Store

log = structlog.stdlib.get_logger()


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an admin looks at or changes."""

    store: Store
    glance: Glance
    history: History
    figures: Figures
    copies: Copies
    jobs: JobList
    job_administration: JobAdministration
    people: People


TheDesk: TypeAlias = NamedDependency[SkipValidation[Desk]]
Admin: TypeAlias = NamedDependency[SkipValidation[Identity]]
"""The caller. A handler of the admin page that does not take it is open to everybody, which a test forbids."""


async def only_admins(identity: NamedDependency[SkipValidation[Identity]]) -> Identity:
    """The caller, who is an admin in a browser; nobody else learns anything, not even what is there."""
    if not identity.is_admin:
        raise Forbidden("Only an admin may do that. Sign in as one; `zataku accounts grant-admin NAME` makes one.")
    return identity


def note(admin: Identity, did: str, **what: object) -> None:
    """Write down who changed something."""
    log.info("admin_did", did=did, account_id=admin.account_id, name=admin.name, **what)
