"""Sample items of a small community. The same random source and time give the same items."""

from collections.abc import Iterator
from hashlib import sha256
from random import Random

from zataku.platform.design import Account, ApiKey, Job, Lease, NameClaim, Session
from zataku.platform.limits import (
    DAY,
    GUEST_TTL,
    HOUR,
    LEASE_ITEM_TTL,
    MAX_JOB_ATTEMPTS,
    MINUTE,
    SECOND,
    SESSION_TTL,
    AccountId,
    Language,
    OwnerId,
    expiry,
)
from zataku.table import Entity, Millis
from zataku.text import fold

NAMES: dict[Language, tuple[str, ...]] = {
    "ja": ("はなこ", "たろう", "さくら餅", "将棋好きのケン", "月見うどん", "ミナト・アオイ", "雪だるま", "こたつ猫"),
    "ko": ("김하늘", "달토끼", "붕어빵", "서울 여우", "한월", "두부조림", "파란 우산", "겨울밤", "초록고래", "민지"),
    "en": ("Mabel", "otto_the_owl", "Sofia", "quiet.harbour", "Jun-ho", "Rowan Vale", "teapot", "Émile", "Ines"),
}
# The hash of discarded random bytes: no password matches it.
PASSWORD = "$argon2id$v=19$m=65536,t=3,p=4$Nq1Yc0wV7mJ2kR5tXb8uZg$3m0Q9vJ7pYd2sL1xTg6hWc4nRk8bFe5aUo0iZqXyHsM"
BROWSERS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
)
LABELS: dict[Language, str] = {"ja": "ランキング取込み", "ko": "랭킹 가져오기", "en": "ranking importer"}


def account_id(random: Random) -> AccountId:
    """An account id in the server's format."""
    digits = f"{random.getrandbits(128):032x}"
    return AccountId(f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}")


def secret_hash(random: Random) -> str:
    """The hash of a secret."""
    return sha256(random.randbytes(32)).hexdigest()


def user(random: Random, now: Millis, name: str, language: Language = "en", admin: bool = False) -> Account:
    """A user who signed up within the last year and was seen within the last day."""
    created = now - random.randrange(DAY, 365 * DAY)
    return Account(
        account_id=account_id(random),
        role="admin" if admin else "user",
        name=name,
        password=PASSWORD,
        password_changed_at=created,
        language=language,
        created_at=created,
        last_seen_at=now - random.randrange(DAY),
    )


def guest(random: Random, now: Millis, language: Language = "en") -> Account:
    """A guest who was last seen within three days."""
    seen = now - random.randrange(3 * DAY)
    return Account(
        account_id=account_id(random),
        role="guest",
        language=language,
        created_at=seen,
        last_seen_at=seen,
        expires_at=expiry(seen, GUEST_TTL),
    )


def claim(account: Account) -> NameClaim:
    """The claim on the name of a user."""
    assert account.name is not None
    return NameClaim(folded_name=fold(account.name), account_id=account.account_id, claimed_at=account.created_at)


def time_before(random: Random, account: Account, end: Millis, span: int) -> Millis:
    """A time in the span before `end` at which the account was there."""
    return random.randint(max(account.created_at, end - span), end)


def session(random: Random, account: Account) -> Session:
    """A session of the week before the user was last seen."""
    used = time_before(random, account, account.last_seen_at, 7 * DAY)
    return Session(
        account_id=account.account_id,
        token_hash=secret_hash(random),
        generation=account.generation,
        user_agent=random.choice(BROWSERS),
        created_at=time_before(random, account, used, 30 * DAY),
        last_used_at=used,
        expires_at=expiry(used, SESSION_TTL),
    )


def api_key(random: Random, account: Account) -> ApiKey:
    """An API key for imports into the rankings."""
    used = time_before(random, account, account.last_seen_at, DAY)
    return ApiKey(
        account_id=account.account_id,
        key_hash=secret_hash(random),
        label=LABELS[account.language],
        scopes=frozenset({"ranking:read", "ranking:write"}),
        created_at=time_before(random, account, used, 90 * DAY),
        last_used_at=used,
    )


def people(random: Random, now: Millis) -> Iterator[Entity]:
    """Some dozens of users with their names, sessions and keys, the first of them an admin, and ten guests."""
    for language, names in NAMES.items():
        for name in names:
            account = user(random, now, name, language, admin=name == NAMES["ja"][0])
            yield account
            yield claim(account)
            for _ in range(random.randint(1, 3)):
                yield session(random, account)
            if random.random() < 0.2:
                yield api_key(random, account)
    for _ in range(10):
        yield guest(random, now, random.choice(("ja", "ko", "en")))


def jobs(random: Random, now: Millis) -> Iterator[Job]:
    """Turns that end around now, the daily jobs, a running job and a dead one."""
    for number in range(24):
        at = now + random.randrange(-5 * MINUTE, 5 * MINUTE)
        subject = f"{account_id(random)}#{number + 1}"
        yield Job(system="othello", kind="close_turn", subject=subject, scheduled_for=at, due_at=at, run=now)
    midnight = now - now % DAY + DAY
    yield Job(system="ranking", kind="daily_ranking", subject="all", scheduled_for=midnight, due_at=midnight, run=now)
    yield Job(
        system="kifu",
        kind="analyse",
        subject=str(account_id(random)),
        scheduled_for=now - MINUTE,
        due_at=now + MINUTE,
        state="running",
        owner=OwnerId("web-1"),
        attempts=1,
        run=now - MINUTE,
        payload='{"depth":12}',
    )
    yield Job(
        system="live",
        kind="close_room",
        subject="R7K2PQ",
        scheduled_for=now - 2 * DAY,
        state="dead",
        attempts=MAX_JOB_ATTEMPTS,
        run=now - 2 * DAY,
        last_error="TimeoutError: the room did not answer within 5 s",
        died_at=now - HOUR,
    )


def leases(random: Random, now: Millis) -> Iterator[Lease]:
    """Leases of rooms in two processes, and a released lease."""
    for number in range(6):
        until = now + random.randrange(5 * SECOND, 20 * SECOND)
        yield Lease(
            name=f"room/drawing/{random.getrandbits(30):06X}",
            owner=OwnerId(f"web-{number % 2 + 1}"),
            until=until,
            epoch=now // SECOND - random.randrange(1000),
            expires_at=expiry(until, LEASE_ITEM_TTL),
        )
    yield Lease(name="singleton/sweep", until=now, epoch=now // SECOND, expires_at=expiry(now, LEASE_ITEM_TTL))


def community(random: Random, now: Millis) -> Iterator[Entity]:
    """All items of a small community."""
    yield from people(random, now)
    yield from jobs(random, now)
    yield from leases(random, now)


def examples() -> Iterator[Entity]:
    """An item of each kind, of a small community, for the design document."""
    return community(Random(1), 1_771_669_800_000)
