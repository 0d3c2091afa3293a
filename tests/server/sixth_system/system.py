"""A small sixth system with every part that a system can have: quotes that users store."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import msgspec
from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, SkipValidation
from msgspec import Meta

from zataku.errors import NotFound
from zataku.jobs.definitions import DailyJob, DeadlineJob, StreamConsumer
from zataku.platform.design import Job
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import Command, Outcome, RoomBehaviour
from zataku.system import AppContext, Page, Plugin, System
from zataku.table import NEW_AND_OLD, Change, Entity, Span, Table

quotes_table = Table("SixthQuotes", pk="PK", sk="SK", stream=NEW_AND_OLD)
Text = Annotated[str, Meta(min_length=1, max_length=200)]


@quotes_table.entity(pk="OWNER#{owner}", sk="QUOTE#{quote_id}")
class Quote(Entity, frozen=True, kw_only=True, rename="camel", tag="QUOTE"):
    """A sentence that a user has stored."""

    owner: AccountId
    quote_id: Annotated[str, Meta(max_length=40)]
    text: Text


@quotes_table.query(returns=Quote)
def quotes_of(owner: AccountId) -> Span:
    """The quotes of an account."""
    return quotes_table.partition(f"OWNER#{owner}").begins_with("QUOTE#")


class QuotesHome(msgspec.Struct, frozen=True, kw_only=True):
    """The number of quotes of the caller."""

    count: int


class NewQuote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A quote to keep."""

    text: Text


class QuoteView(msgspec.Struct, frozen=True):
    """A quote of the caller."""

    text: str


class Read(msgspec.Struct, frozen=True, tag="read", tag_field="k"):
    """Read the board."""


class BoardState(msgspec.Struct, frozen=True):
    """The state of a board: its ownership, and how often it was read."""

    epoch: int
    readings: int = 0


class Board(RoomBehaviour[BoardState]):
    """A room that counts how often it is read."""

    kind = "quotes"

    def decode_command(self, payload: bytes) -> Read:
        return msgspec.json.decode(payload, type=Read)

    async def require_open(self, room_id: str) -> None:
        if room_id != "board":
            raise NotFound("There is no such board.")

    async def acquire(self, room_id: str) -> BoardState:
        return BoardState(epoch=1)

    async def reload(self, state: BoardState) -> BoardState:
        return state

    async def handle(self, state: BoardState, commands: Sequence[Command], now: float) -> Outcome[BoardState]:
        following = BoardState(epoch=state.epoch, readings=state.readings + len(commands))
        return Outcome(state=following, replies=[None] * len(commands))

    async def snapshot(self, state: BoardState, viewer: Identity, since: str | None) -> bytes:
        return msgspec.json.encode({"readings": state.readings})


Caller = NamedDependency[SkipValidation[Identity]]
recorded: list[str] = []
"""What the background parts did, for the tests."""


def plug(context: AppContext) -> Plugin:
    store = context.store

    @get("/", summary="My quotes")
    async def list_quotes(identity: Caller) -> list[QuoteView]:
        """The caller's quotes."""
        return [QuoteView(quote.text) async for quote in store.each(quotes_of(identity.account_id))]

    @post("/", summary="Keep a quote")
    async def keep_quote(identity: Caller, data: JSONBody[NewQuote]) -> QuoteView:
        """Keep a quote."""
        await context.ensure_account(identity)
        await store.put(Quote(owner=identity.account_id, quote_id=str(context.random.getrandbits(60)), text=data.text))
        return QuoteView(data.text)

    async def home(identity: Identity) -> QuotesHome:
        return QuotesHome(count=len([quote async for quote in store.each(quotes_of(identity.account_id))]))

    async def remove(account_id: AccountId) -> None:
        async for quote in store.each(quotes_of(account_id)):
            await store.delete(Quote.key(owner=quote.owner, quote_id=quote.quote_id))

    async def demo() -> None:
        await store.put(Quote(owner=DEMO_OWNER, quote_id="1", text="All beginnings are hard."))

    async def run_job(job: Job) -> None:
        recorded.append(f"{job.kind} {job.subject}")

    async def consume(changes: Sequence[Change]) -> None:
        recorded.extend(f"{change.kind} of a quote" for change in changes)

    async def page_title(quote_id: str) -> str | None:
        return f"Quote {quote_id}"

    @asynccontextmanager
    async def lifespan() -> AsyncGenerator[None]:
        recorded.append("lifespan began")
        yield
        recorded.append("lifespan ended")

    return Plugin(
        routes=(Router("/api/quotes", route_handlers=[list_quotes, keep_quote], tags=["quotes"]),),
        room=Board(),
        deadline_jobs=(DeadlineJob(system="quotes", kind="remind", handle=run_job),),
        daily_jobs=(DailyJob(system="quotes", kind="quote_of_the_day", hour=3, handle=run_job),),
        stream_consumers=(StreamConsumer(name="quotes-log", table=quotes_table, handle=consume),),
        lifespan=lifespan,
        home=home,
        remove=remove,
        demo=demo,
        page_title=page_title,
    )


DEMO_OWNER = AccountId("00000000-0000-4000-a000-000000000006")

SYSTEM = System(
    name="quotes",
    about="Sentences worth keeping",
    tables=(quotes_table,),
    texts=Path(__file__).with_name("texts.toml"),
    home_card=QuotesHome,
    pages=(
        Page(path="/quotes", component="quotes"),
        Page(path="/quotes/{quote_id}", component="quotes", is_room=True, title_from="quote_id"),
    ),
    messages={"Read": Read},
    plug=plug,
)
