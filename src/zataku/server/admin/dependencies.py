"""Shared parts of the admin handlers: their services, the admin check, the audit log and path parameters."""

from typing import Annotated, TypeAlias

import msgspec
import structlog
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter, SkipValidation

from zataku.accounts.route_access import require_admin
from zataku.jobs.administration import JobAdministration
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId, JobState
from zataku.server.admin.accounts import AccountDirectory
from zataku.server.admin.backups import BackupService
from zataku.server.admin.history import History
from zataku.server.admin.jobs import JobList
from zataku.server.admin.overview import OverviewReader
from zataku.server.admin.tables.stats import TableStats
from zataku.table import UUID_PATTERN, Store, anchored

log = structlog.stdlib.get_logger()


class AdminServices(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an admin reads or changes."""

    store: Store
    overview: OverviewReader
    history: History
    tables: TableStats
    backups: BackupService
    jobs: JobList
    job_administration: JobAdministration
    accounts: AccountDirectory


Services: TypeAlias = NamedDependency[SkipValidation[AdminServices]]
Admin: TypeAlias = NamedDependency[SkipValidation[Identity]]
"""The caller. A handler without it would be open to everyone; a test forbids that."""


async def admin_identity(identity: NamedDependency[SkipValidation[Identity]]) -> Identity:
    """The caller, who must be an admin in a browser."""
    require_admin(identity)
    return identity


def audit(admin: Identity, action: str, **fields: object) -> None:
    """Log an admin's change."""
    log.info("admin_action", action=action, account_id=admin.account_id, name=admin.name, **fields)


# Parameters: Litestar checks them against the limits given here only, not against those of their types.

_BACKUP_NAME = anchored(r"[A-Za-z0-9][A-Za-z0-9_.-]{2,99}")

TableName: TypeAlias = Annotated[str, PathParameter(max_length=255)]
BackupName: TypeAlias = Annotated[str, PathParameter(pattern=_BACKUP_NAME, description="Name of the backup")]
NewBackupName: TypeAlias = Annotated[
    str | None, QueryParameter(name="name", pattern=_BACKUP_NAME, description="Its name")
]
AccountIdPath: TypeAlias = Annotated[
    AccountId, PathParameter(pattern=anchored(UUID_PATTERN), description="Id of the account")
]
SessionId: TypeAlias = Annotated[str, PathParameter(pattern=anchored("[0-9a-f]{64}"), description="Id of the session")]

Minutes: TypeAlias = Annotated[int, QueryParameter(ge=1, le=24 * 60, description="How far back to look")]
ItemLimit: TypeAlias = Annotated[int, QueryParameter(ge=1, le=100, description="Most items of a page")]
JobLimit: TypeAlias = Annotated[int, QueryParameter(ge=4, le=400, description="Most jobs of a page")]
KeyText: TypeAlias = Annotated[str | None, QueryParameter(max_length=4096)]
# A cursor holds up to four keys in base64: 2 KB and 1 KB each for the table and an index.
After: TypeAlias = Annotated[str | None, QueryParameter(max_length=16_384, description="Where the last page ended")]
NameQuery: TypeAlias = Annotated[str, QueryParameter(max_length=60, description="Name of an account")]
StateFilter: TypeAlias = Annotated[
    JobState | None,
    QueryParameter(name="state", description="Only jobs in this state; without it, those that wait or run"),
]
