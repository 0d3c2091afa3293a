"""What may stand in an address: Litestar holds a parameter against its own limits only, not those of its type."""

from typing import Annotated, TypeAlias

from litestar.params import PathParameter, QueryParameter

from zataku.platform.limits import AccountId, JobState
from zataku.table import UUID_PATTERN, anchored

_BACKUP = anchored(r"[A-Za-z0-9][A-Za-z0-9_.-]{2,99}")

TableName: TypeAlias = Annotated[str, PathParameter(max_length=255)]
OneBackup: TypeAlias = Annotated[str, PathParameter(pattern=_BACKUP, description="Name of the backup")]
NewBackup: TypeAlias = Annotated[str | None, QueryParameter(name="name", pattern=_BACKUP, description="Its name")]
OneAccount: TypeAlias = Annotated[
    AccountId, PathParameter(pattern=anchored(UUID_PATTERN), description="Id of the account")
]
OneSession: TypeAlias = Annotated[str, PathParameter(pattern=anchored("[0-9a-f]{64}"), description="Id of the session")]

Minutes: TypeAlias = Annotated[int, QueryParameter(ge=1, le=24 * 60, description="How far back to look")]
Items: TypeAlias = Annotated[int, QueryParameter(ge=1, le=100, description="Most items of a page")]
Jobs: TypeAlias = Annotated[int, QueryParameter(ge=4, le=400, description="Most jobs of a page")]
Text: TypeAlias = Annotated[str | None, QueryParameter(max_length=4096)]
# A place holds up to four keys in base64: 2 KB and 1 KB each for the table and an index.
After: TypeAlias = Annotated[str | None, QueryParameter(max_length=16_384, description="Where the last page ended")]
Name: TypeAlias = Annotated[str, QueryParameter(max_length=60, description="Name of somebody")]
State: TypeAlias = Annotated[JobState | None, QueryParameter(name="state", description="Only those; none for all due")]
