"""Who comes in: identities, accounts, and how often somebody may ask."""

import asyncio
from contextlib import AsyncExitStack

import msgspec

from zataku.accounts.authentication import Authenticator
from zataku.accounts.passwords import Passwords
from zataku.accounts.rate_limits import MINUTE, RATE_LIMITS, RateLimit, RateLimits
from zataku.accounts.service import Accounts
from zataku.accounts.sessions import Ended
from zataku.clock import Clock
from zataku.platform.identity import Identity
from zataku.server.process.session_cutoff import sessions_from
from zataku.server.settings import Settings
from zataku.table import Store


class AccountServices(msgspec.Struct, frozen=True, kw_only=True):
    """What deals with callers."""

    authenticator: Authenticator
    accounts: Accounts
    rate_limits: RateLimits

    async def ensure_account(self, identity: Identity) -> None:
        """Give a guest an account in the table."""
        await self.authenticator.ensure_account(identity)


async def open_account_services(
    settings: Settings, store: Store, clock: Clock, public_url: str, ended: Ended, closing: AsyncExitStack
) -> AccountServices:
    """Begin to know people."""
    since = await asyncio.to_thread(sessions_from, settings.folder)
    authenticator = await Authenticator.open(store, clock, public_url, since)
    closing.push_async_callback(authenticator.drain)
    passwords = Passwords()
    closing.callback(passwords.close)
    # A hall behind one router comes back all at once after a restart.
    most = settings.sockets_per_address
    rate_limits = RateLimits(clock, {**RATE_LIMITS, "socket_address": RateLimit(most, MINUTE, most)})
    return AccountServices(
        authenticator=authenticator, accounts=Accounts(store, clock, passwords, ended), rate_limits=rate_limits
    )
