"""The application: every service opened and wired, in the order in which one needs another."""

import asyncio
import os
import re
import secrets
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random

import structlog

from zataku.accounts.removal import AccountRemoval
from zataku.accounts.secrets import Secret
from zataku.background_tasks import BackgroundTasks
from zataku.clock import AdvanceableClock, Clock, SystemClock
from zataku.jobs.definitions import DeadlineJob
from zataku.jobs.runner import JobRunner
from zataku.jobs.schedule import Schedule
from zataku.realtime.topics import Topics
from zataku.server.endpoints.home import CHANGED, TOPIC, publish_room_changes
from zataku.server.http.asgi import App
from zataku.server.http.readiness import Readiness
from zataku.server.http.routes import build_apps
from zataku.server.metrics import build_metrics, room_kinds
from zataku.server.pages.web_build import WEB_FOLDER, WebBuild
from zataku.server.process.data_folder import remove_control_file, write_control_file
from zataku.server.services import (
    AccountServices,
    RealtimeServices,
    Services,
    open_account_services,
    open_realtime_services,
)
from zataku.server.settings import Settings
from zataku.server.sockets.connections import close_expired_connections
from zataku.server.systems import SYSTEMS, tables_by_design
from zataku.system import AppContext, Plugin, System
from zataku.table import StoreUrl, TableError, open_store

log = structlog.stdlib.get_logger()

RECONNECT_AFTER_MS = 1000
"""Milliseconds after which browsers try to reconnect to a server that stops."""
DRAIN_SECONDS = 10.0
"""The longest that rooms and jobs may take together to be handed over; each has limits of its own."""
SAVE_USAGE_INTERVAL = 60.0


class Application:
    """The open server: `app` answers requests, `socket` serves WebSockets."""

    def __init__(self, services: Services, app: App, socket: App) -> None:
        self.services = services
        self.app = app
        self.socket = socket
        self._drained = False
        self._readiness = Readiness(services.context.store, services.context.clock)

    async def is_ready(self) -> bool:
        """True when the store can be read and written."""
        return await self._readiness.is_ready()

    async def drain(self) -> None:
        """Ask sockets to reconnect elsewhere, and hand over rooms and jobs. A second call does nothing."""
        if self._drained:
            return
        self._drained = True
        realtime = self.services.realtime
        realtime.hub.disconnect_all(RECONNECT_AFTER_MS)
        # Side by side: rooms are handed over at once, even though jobs that still run may send them commands.
        handovers = [asyncio.create_task(realtime.rooms.stop()), asyncio.create_task(self.services.runner.stop())]
        _, late = await asyncio.wait(handovers, timeout=DRAIN_SECONDS)
        for task in late:
            task.cancel()
        for problem in await asyncio.gather(*handovers, return_exceptions=True):
            if problem is not None:
                # Another process takes over when the leases have lapsed.
                log.error("handover_failed", exc_info=problem)


@asynccontextmanager
async def open_application(
    settings: Settings,
    *,
    public_url: str,
    loopback: str,
    web_folder: Path = WEB_FOLDER,
    systems: tuple[System, ...] = SYSTEMS,
) -> AsyncGenerator[Application]:
    """Open the application, and close its parts in the reverse order at the end."""
    async with AsyncExitStack() as closing:
        store_url = StoreUrl.parse(settings.store_url)
        context, realtime, accounts = await _open_context(settings, systems, store_url, public_url, closing)
        plugins = {system.name: system.plug(context) for system in systems}
        runner = _build_runner(context, plugins)
        metrics, history = build_metrics(context, realtime.hub, runner, plugins)
        services = Services(
            settings=settings,
            store_url=store_url,
            context=context,
            realtime=realtime,
            accounts=accounts,
            systems=systems,
            plugins=plugins,
            runner=runner,
            metrics=metrics,
            history=history,
            control_token=Secret.generate(),
            started_at=context.clock.now(),
            web_folder=web_folder,
            web_build=await asyncio.to_thread(WebBuild.read, web_folder),
        )
        application = Application(services, *build_apps(services))
        await _start(application, loopback, closing)
        yield application


async def _open_context(
    settings: Settings, systems: Sequence[System], store_url: StoreUrl, public_url: str, closing: AsyncExitStack
) -> tuple[AppContext, RealtimeServices, AccountServices]:
    """Open the store, the realtime and the account services, and what systems may use of them."""
    clock: Clock = AdvanceableClock() if settings.env == "test" else SystemClock()
    machine = _machine_name()
    random, process = Random(), _process_name(machine)
    tables = [table for tables in tables_by_design(systems).values() for table in tables]
    store = await open_store(store_url, tables, env=settings.env, clock=clock, random=random)
    closing.push_async_callback(store.close)
    realtime = await open_realtime_services(settings, store, clock, random, process, closing)
    accounts = await open_account_services(settings, store, clock, public_url, realtime.sign_outs.publish, closing)
    context = AppContext(
        store=store,
        clock=clock,
        random=random,
        schedule=Schedule(store, clock),
        rooms=realtime.rooms,
        topics=realtime.topics,
        process=process,
        node=_node_name(machine, process, settings),
        public_url=public_url,
        ensure_account=accounts.authenticator.ensure_account,
    )
    return context, realtime, accounts


def _build_runner(context: AppContext, plugins: Mapping[str, Plugin]) -> JobRunner:
    removal = AccountRemoval(context.store, context.clock, [plugin.remove for plugin in plugins.values()])
    remove_accounts = DeadlineJob(system=removal.system, kind=removal.kind, handle=removal.run)
    return JobRunner(
        store=context.store,
        clock=context.clock,
        random=context.random,
        process=context.process,
        schedule=context.schedule,
        deadline_jobs=[remove_accounts, *(job for plugin in plugins.values() for job in plugin.deadline_jobs)],
        daily_jobs=[job for plugin in plugins.values() for job in plugin.daily_jobs],
        stream_consumers=[consumer for plugin in plugins.values() for consumer in plugin.stream_consumers],
    )


async def _start(application: Application, loopback: str, closing: AsyncExitStack) -> None:
    """Start sockets, rooms, the systems' lifespans, jobs and background tasks."""
    services = application.services
    realtime, context, plugins = services.realtime, services.context, services.plugins
    for plugin in plugins.values():
        if plugin.room is not None:
            realtime.rooms.register(plugin.room)
    await realtime.hub.start(realtime.router.catch_up)
    closing.push_async_callback(realtime.hub.stop)
    lifespans = await closing.enter_async_context(AsyncExitStack())
    closing.push_async_callback(application.drain)
    await realtime.rooms.start()
    for plugin in plugins.values():
        if plugin.lifespan is not None:
            await lifespans.enter_async_context(plugin.lifespan())
    await services.runner.start()
    folder = services.settings.folder
    await asyncio.to_thread(write_control_file, folder, loopback, services.control_token)
    closing.push_async_callback(asyncio.to_thread, remove_control_file, folder, services.control_token)
    background = BackgroundTasks()
    closing.push_async_callback(background.stop)
    background.start(services.metrics.measure_loop_lag())
    background.start(services.history.run())
    background.start(_save_usage(context))
    background.start(close_expired_connections(realtime.hub, services.accounts.authenticator.is_still_valid))
    background.start(publish_room_changes(context, room_kinds(plugins)))
    if services.settings.demo:
        background.start(fill_demo(context.topics, plugins))


async def fill_demo(topics: Topics, plugins: Mapping[str, Plugin]) -> None:
    """Fill an empty store with the examples of each system, and notify open home pages."""
    for name, plugin in plugins.items():
        if plugin.demo is None:
            continue
        try:
            await plugin.demo()
        except TableError as problem:
            log.warning("demo_failed", system=name, code=problem.code, problem=problem.message)
        else:
            topics.publish(TOPIC, CHANGED)


async def _save_usage(context: AppContext) -> None:
    while True:
        await context.clock.sleep(SAVE_USAGE_INTERVAL)
        try:
            await context.store.flush_usage()
        except TableError as problem:
            # The totals stay in memory, and the next save has them all.
            log.warning("usage_save_failed", code=problem.code, problem=problem.message)


def _machine_name() -> str:
    return _plain(socket.gethostname())[:64]


def _process_name(machine: str) -> str:
    """A name that is different at each start and says which machine the process runs on."""
    return f"{machine[:30]}:{os.getpid()}:{secrets.token_hex(4)}"


def _node_name(machine: str, process: str, settings: Settings) -> str:
    """A name that is the same at each start: only one process of a machine listens at one address and port."""
    if settings.port == 0:
        return process
    return f"{machine}:{_plain(settings.host)[:50]}:{settings.port}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", name)
