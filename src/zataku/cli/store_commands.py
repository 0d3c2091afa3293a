"""The commands of `zataku store`. Those that only read work beside a running server."""

from cyclopts import App

from zataku.cli.backup_commands import backup, restore
from zataku.cli.maintenance_commands import migrate, sweep
from zataku.cli.store_stats import stats
from zataku.cli.store_status import status
from zataku.cli.transfer_commands import export, import_

app = App(name="store", help_format="plaintext")
app.command(status)
app.command(stats)
app.command(backup)
app.command(restore)
app.command(export)
app.command(import_, name="import")
app.command(migrate)
app.command(sweep)
