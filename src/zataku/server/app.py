"""The house, wired once: what it keeps, who comes in, what lies on the table, and what answers."""

import asyncio
import os
import re
import secrets
import socket
from collections.abc import AsyncGenerator, Sequence
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
from zataku.server.demo import demonstrate
from zataku.server.endpoints.home import publish_room_changes
from zataku.server.gauging import build_metrics, room_kinds
from zataku.server.http.asgi import App
from zataku.server.http.routes import site
from zataku.server.network import open_network
from zataku.server.pages.web_build import WEB, WebBuild
from zataku.server.process.control_file import remove_control_file, write_control_file
from zataku.server.reception import open_account_services
from zataku.server.services import Services
from zataku.server.settings import Settings
from zataku.server.sockets.connections import close_expired_connections
from zataku.server.systems import PLUGS, every_table
from zataku.system import AppContext, System
from zataku.table import StoreUrl, TableError, open_store

log = structlog.stdlib.get_logger()

COME_BACK_AFTER = 1000
"""Milliseconds after which browsers look for the server again."""
LEAVE_WITHIN = 10.0
"""Seconds after which nobody is waited for any more, though all have their own limits."""
KEEP_USAGE_EVERY = 60.0


class Application:
    """The house while it is open: `app` answers requests, `socket` takes sockets."""

    def __init__(self, parts: Services, app: App, socket: App) -> None:
        self.parts = parts
        self.app = app
        self.socket = socket
        self._left = False

    async def leave(self) -> None:
        """Send everybody home, once: sockets are told to come back, rooms and jobs are handed over."""
        if self._left:
            return
        self._left = True
        self.parts.network.hub.come_back(COME_BACK_AFTER)
        # Side by side: a room that is handed over at once is worth more than the jobs that would still ask it.
        handing = [asyncio.create_task(self.parts.network.rooms.stop()), asyncio.create_task(self.parts.runner.stop())]
        _, late = await asyncio.wait(handing, timeout=LEAVE_WITHIN)
        for task in late:
            task.cancel()
        for problem in await asyncio.gather(*handing, return_exceptions=True):
            if problem is not None:
                # What could not be handed over is taken over when its lease has lapsed.
                log.error("not_handed_over", exc_info=problem)


@asynccontextmanager
async def open_application(
    settings: Settings, *, public_url: str, loopback: str, web: Path = WEB
) -> AsyncGenerator[Application]:
    """Open everything, in the order in which one thing needs another; close it in the reverse order."""
    async with AsyncExitStack() as closing:
        clock: Clock = AdvanceableClock() if settings.env == "test" else SystemClock()
        machine = _machine_name()
        random, process = Random(), _process_name(machine)
        place = StoreUrl.parse(settings.store_url)
        store = await open_store(place, every_table(), env=settings.env, clock=clock, random=random)
        closing.push_async_callback(store.close)
        network = await open_network(settings, store, clock, random, process, closing)
        reception = await open_account_services(settings, store, clock, public_url, network.farewells.tell, closing)
        house = AppContext(
            store=store,
            clock=clock,
            random=random,
            schedule=Schedule(store, clock),
            rooms=network.rooms,
            topics=network.topics,
            process=process,
            node=_node_name(machine, process, settings),
            public_url=public_url,
            ensure_account=reception.ensure_account,
        )
        systems = tuple(plug(house) for plug in PLUGS)
        runner = _runner(house, systems)
        figures, history = build_metrics(house, network.hub, runner, systems)
        parts = Services(
            settings=settings,
            place=place,
            house=house,
            network=network,
            reception=reception,
            systems=systems,
            runner=runner,
            figures=figures,
            history=history,
            control=Secret.made(),
            started=clock.now(),
            web=web,
            build=await asyncio.to_thread(WebBuild.read, web),
        )
        opened = Application(parts, *site(parts))
        await _begin(opened, loopback, closing)
        yield opened


def _runner(house: AppContext, systems: Sequence[System]) -> JobRunner:
    removal = AccountRemoval(house.store, house.clock, [system.remove for system in systems])
    remove_accounts = DeadlineJob(system=removal.system, kind=removal.kind, handle=removal.run)
    return JobRunner(
        store=house.store,
        clock=house.clock,
        random=house.random,
        process=house.process,
        schedule=house.schedule,
        deadline_jobs=[remove_accounts, *(job for system in systems for job in system.deadline_jobs)],
        daily_jobs=[job for system in systems for job in system.daily_jobs],
        stream_consumers=[consumer for system in systems for consumer in system.stream_consumers],
    )


async def _begin(opened: Application, loopback: str, closing: AsyncExitStack) -> None:
    """Set going what goes on by itself."""
    parts, network = opened.parts, opened.parts.network
    for system in parts.systems:
        if system.behaviour is not None:
            network.rooms.add(system.behaviour)
    await network.hub.start(network.doorway.behind)
    closing.push_async_callback(network.hub.stop)
    lives = await closing.enter_async_context(AsyncExitStack())
    closing.push_async_callback(opened.leave)
    await network.rooms.start()
    for system in parts.systems:
        if system.life is not None:
            await lives.enter_async_context(system.life())
    await parts.runner.start()
    folder = parts.settings.folder
    await asyncio.to_thread(write_control_file, folder, loopback, parts.control)
    closing.push_async_callback(asyncio.to_thread, remove_control_file, folder, parts.control)
    chores = BackgroundTasks()
    closing.push_async_callback(chores.stop)
    chores.start(parts.figures.watch_the_loop())
    chores.start(parts.history.run())
    chores.start(_keep_usage(parts.house))
    chores.start(close_expired_connections(network.hub, parts.reception.authenticator.is_still_valid))
    chores.start(publish_room_changes(parts.house, room_kinds(parts.systems)))
    if parts.settings.demo:
        chores.start(demonstrate(parts.house.topics, parts.systems))


async def _keep_usage(house: AppContext) -> None:
    while True:
        await house.clock.sleep(KEEP_USAGE_EVERY)
        try:
            await house.store.flush_usage()
        except TableError as problem:
            # Statistics are no reason to stop; the next minute has them all.
            log.warning("usage_not_kept", code=problem.code, problem=problem.message)


def _machine_name() -> str:
    return _plain(socket.gethostname())[:64]


def _process_name(machine: str) -> str:
    """Another one at each start, and yet one by which a host knows the machine."""
    return f"{machine[:30]}:{os.getpid()}:{secrets.token_hex(4)}"


def _node_name(machine: str, process: str, settings: Settings) -> str:
    """The same at each start: on one machine, nobody else listens at that address and port meanwhile."""
    if settings.port == 0:
        return process
    return f"{machine}:{_plain(settings.host)[:50]}:{settings.port}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", name)
