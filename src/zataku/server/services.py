"""The services of the server, opened once and shared by everything that answers requests."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import msgspec

from zataku.accounts.authentication import Authenticator
from zataku.accounts.export_limits import ExportLimits
from zataku.accounts.passwords import Passwords
from zataku.accounts.rate_limits import MINUTE, RATE_LIMITS, RateLimit, RateLimits
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.accounts.sessions import CredentialListener, SessionCutoff
from zataku.clock import Clock
from zataku.jobs.runner import JobRunner
from zataku.realtime.bus.client import BusClient
from zataku.realtime.bus.port import open_bus
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.router import SocketRouter
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.topics import Topics
from zataku.server.admin.history import History
from zataku.server.metrics import Metrics
from zataku.server.pages.web_build import WebBuild
from zataku.server.process.data_folder import read_session_cutoff
from zataku.server.settings import Settings
from zataku.server.sockets.connections import ConnectionHub, SignOutBroadcast
from zataku.system import AppContext, Plugin, System
from zataku.table import Store, StoreUrl

BURST_SECONDS, TRANSIENT_BURST_SECONDS = 20, 2
"""The seconds of an average rate that may come at once: a hall joins, votes and claps in the same moment."""

EXCESS_SECONDS, EXCESS_BURST = 4, 2
"""Every socket of an address may be refused something or send a pong once in so many seconds, and so often at once."""


class AccountServices(msgspec.Struct, frozen=True, kw_only=True):
    """Authenticator of callers, their accounts, and the limits on how often they may call."""

    authenticator: Authenticator
    accounts: Accounts
    rate_limits: RateLimits
    export_limits: ExportLimits


async def open_account_services(
    settings: Settings,
    store: Store,
    clock: Clock,
    public_url: str,
    on_sign_out: CredentialListener,
    closing: AsyncExitStack,
) -> AccountServices:
    """The account services on a store."""
    cutoff = SessionCutoff(await asyncio.to_thread(read_session_cutoff, settings.folder))
    authenticator = await Authenticator.open(store, clock, public_url, cutoff)
    closing.push_async_callback(authenticator.drain)
    passwords = Passwords()
    closing.callback(passwords.close)
    # After a restart, every browser behind one router reconnects at once.
    burst = settings.sockets_per_address
    rate_limits = RateLimits(clock, {**RATE_LIMITS, "socket_address": RateLimit(burst, MINUTE, burst)})
    return AccountServices(
        authenticator=authenticator,
        accounts=Accounts(store, clock, passwords, on_sign_out, cutoff),
        rate_limits=rate_limits,
        export_limits=ExportLimits(
            clock, rate_limits, max_exports=settings.exports, max_per_address=settings.exports_per_address
        ),
    )


class RealtimeServices(msgspec.Struct, frozen=True, kw_only=True):
    """Sockets, topics and rooms, on the bus between processes."""

    hub: ConnectionHub
    topics: Topics
    rooms: RoomRegistry
    router: SocketRouter
    sign_outs: SignOutBroadcast


async def open_realtime_services(
    settings: Settings, store: Store, clock: Clock, random: Random, process: str, closing: AsyncExitStack
) -> RealtimeServices:
    """The realtime services on a store. Rooms start when the systems have added their behaviours."""
    bus = BusClient(open_bus(settings.bus, clock))
    await bus.start()
    closing.push_async_callback(bus.stop)
    hub = ConnectionHub(clock, random, socket_limits(settings))
    topics = Topics(bus=bus, hub=hub)
    rooms = RoomRegistry(store=store, clock=clock, random=random, process=process, bus=bus, hub=hub)
    sign_outs = SignOutBroadcast(hub, bus)
    await sign_outs.start()
    return RealtimeServices(
        hub=hub, topics=topics, rooms=rooms, router=SocketRouter(rooms, topics), sign_outs=sign_outs
    )


def socket_limits(settings: Settings) -> SocketLimits:
    """The limits of sockets as the host has set them."""
    return SocketLimits(
        max_sockets_per_account=settings.sockets_per_account,
        max_sockets_per_address=settings.sockets_per_address,
        max_topics_per_address=settings.topics_per_address,
        address_joins_per_second=settings.joins_per_address,
        address_join_burst=settings.joins_per_address * BURST_SECONDS,
        address_commands_per_second=settings.commands_per_address,
        address_command_burst=settings.commands_per_address * BURST_SECONDS,
        address_transients_per_second=settings.transients_per_address,
        address_transient_burst=settings.transients_per_address * TRANSIENT_BURST_SECONDS,
        address_excess_per_second=settings.sockets_per_address / EXCESS_SECONDS,
        address_excess_burst=settings.sockets_per_address * EXCESS_BURST,
    )


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that `open_application` has wired."""

    settings: Settings
    store_url: StoreUrl
    context: AppContext
    realtime: RealtimeServices
    accounts: AccountServices
    systems: tuple[System, ...]
    plugins: Mapping[str, Plugin]
    """The wired systems by name, in the order of `systems`."""
    runner: JobRunner
    metrics: Metrics
    history: History
    control_token: Secret
    """What the command line authenticates with."""
    started_at: float
    web_folder: Path
    web_build: WebBuild
