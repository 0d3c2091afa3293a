"""What the house consists of once it is open, in one place for whoever answers requests."""

from pathlib import Path

import msgspec

from zataku.accounts.secrets import Secret
from zataku.jobs.runner import JobRunner
from zataku.server.admin.history import History
from zataku.server.metrics import Metrics
from zataku.server.network import Network
from zataku.server.pages.web_build import WebBuild
from zataku.server.reception import AccountServices
from zataku.server.settings import Settings
from zataku.system import AppContext, System
from zataku.table import StoreUrl


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is wired together."""

    settings: Settings
    place: StoreUrl
    house: AppContext
    network: Network
    reception: AccountServices
    systems: tuple[System, ...]
    runner: JobRunner
    figures: Metrics
    history: History
    control: Secret
    """What the command line shows."""
    started: float
    web: Path
    build: WebBuild
