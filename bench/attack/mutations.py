"""Mutations of JSON values, bytes, paths and headers. The same source of randomness gives the same mutations."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = Any

_encode = msgspec.json.Encoder().encode

HOSTILE_TEXTS = (
    "", " ", "\0", "\x1b[31m", "\r\nSet-Cookie: a=b", "\u202e", "\ufeff", "\ufffd" * 100, "a" * 70_000,
    "\U0001f468\u200d" * 300,
    "../../../../etc/passwd", "%00", "${jndi:ldap://x}", "'; DROP TABLE x; --", "<script>alert(1)</script>", "{{7*7}}",
    "00000000-0000-4000-8000-000000000000", "999999999999", "-1", "NaN", "null", "\ufdfa" * 500, "\u0300" * 500,
    "__proto__",
)  # fmt: skip
HOSTILE_LITERALS = (
    b"1e999", b"-1e999", b"1" * 400, b"-0", b"0.1e-400", b"9223372036854775808", b"18446744073709551616", b"1.0",
    b"NaN", b"Infinity", b"null", b"true", b"[]", b"{}", b'""', b"[" * 20_000, b'{"a":' * 20_000,
    b"[" * 500 + b"]" * 500, b'"\\ud800"', b'"\\udfff\\ud800"', b'"\\u0000"', b'"\xff\xfe"', b'"\xed\xa0\x80"',
    b'"\x01\x02"', b'"unterminated', b"tru", b"'single'", b"0x10", b"01", b"+1", b"1,", b"/* */1", b'"\\x41"',
)  # fmt: skip
METHODS = (b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"PROPFIND", b"get", b"X" * 300)
HOSTILE_HEADERS = (
    b"Content-Type: text/plain",
    b"Content-Type: application/json; charset=utf-16",
    b"Content-Type: application/x-www-form-urlencoded",
    b"Content-Type: multipart/form-data",
    b"Content-Type: multipart/form-data; boundary=",
    b"Content-Type: application/x-msgpack",
    b"Content-Type: \xff\xfe",
    b"Content-Type:",
    b"Content-Encoding: gzip",
    b"Content-Encoding: br, gzip, zstd",
    b"Accept: */*;q=\xff",
    b"Accept: text/html;q=9e999",
    b"Accept: application/x-msgpack",
    b"Accept-Encoding: " + b"gzip;q=0." * 100,
    b"Accept-Language: " + b"*;q=1," * 200,
    b"Authorization: Bearer",
    b"Authorization: Bearer " + b"A" * 6000,
    b"Authorization: Basic OjpcMDAw",
    b"Cookie: zataku_session=\x80\xff; zataku_guest=1.2.3.4",
    b"Cookie: " + b"a=b; " * 1000,
    b"Cookie: zataku_guest=1.00000000-0000-4000-8000-000000000000.99999999999999999999999999.x",
    b"Cookie: zataku_language=" + b"x" * 3000,
    b'If-None-Match: "\\", W/"\xff',
    b"If-Modified-Since: Thu, 99 Xxx 9999 99:99:99 GMT",
    b"Range: bytes=-0,5-1,999999999999999999999-",
    b"Origin: null",
    b"Origin: http://[::1",
    b"Host: [::1",
    b"Host: x:80y",
    b"Host: \xe3\x81\x82.example",
    b"Host: " + b"a." * 500,
    b"X-Forwarded-For: ::ffff:999.1.1.1, unknown",
    b"X-Forwarded-Proto: javascript",
    b"X-Request-Id: \x7f\xff",
    b"Expect: 100-continue",
    b"Transfer-Encoding: identity",
    b"Sec-Fetch-Site: \xff",
    b"User-Agent: \xff\x80" + b"u" * 5000,
)
_FOREIGN_BYTES = (b"\0", b"\xff", b"\x1f", b"\xc0\xaf", b"\\u", b"\xf4\x90\x80\x80")
HOSTILE_SEGMENTS = (
    b"..", b"%2e%2e", b"%2e%2e%2f%2e%2e%2fetc%2fpasswd", b"%00", b"%ff", b"%", b"%zz", b"", b"%20", b"%0d%0a",
    b"%E3%81%82", b"a" * 5000, b"-1", b"{room_id}", b"null", b"%F0%9F%91%8D" * 50, b"*", b";", b"a%2fb", b"\xff",
)  # fmt: skip


def mutated_json(value: Json, random: Random) -> bytes:
    """A JSON text near a valid value: with another value somewhere, or with other bytes."""
    choice = random.random()
    if choice < 0.1:
        return _encode(value)
    if choice < 0.55:
        return mutated_value(value, random)
    if choice < 0.65:
        return random.choice(HOSTILE_LITERALS)
    content = _encode(value)
    for _ in range(random.randint(1, 3)):
        content = mutated_bytes(content, random)
    return content


def mutated_value(value: Json, random: Random) -> bytes:
    """A JSON text of a value in which one place is replaced, removed, doubled or renamed."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        return _mutated_object(value, random)
    if isinstance(value, list) and value and random.random() < 0.5:
        return b"[" + b",".join([mutated_value(value[0], random)] * random.choice((1, 2, 5000))) + b"]"
    return _hostile(random)


def _mutated_object(value: dict[str, Json], random: Random) -> bytes:
    pairs = [(_encode(name), _encode(of)) for name, of in value.items()]
    at = random.randrange(len(pairs))
    name, content = pairs[at]
    match random.randrange(6):
        case 0:
            del pairs[at]
        case 1:
            pairs.append((name, random.choice((content, _hostile(random)))))
        case 2:
            pairs.append((_encode(random.choice(HOSTILE_TEXTS)), _hostile(random)))
        case 3:
            pairs[at] = (_encode(random.choice(HOSTILE_TEXTS)), content)
        case 4:
            pairs = [(_encode(f"k{number}"), b"0") for number in range(2000)] + pairs
        case _:
            pairs[at] = (name, mutated_value(list(value.values())[at], random))
    return b"{" + b",".join(b"%b:%b" % pair for pair in pairs) + b"}"


def _hostile(random: Random) -> bytes:
    return random.choice((random.choice(HOSTILE_LITERALS), _encode(random.choice(HOSTILE_TEXTS))))


def mutated_bytes(content: bytes, random: Random) -> bytes:
    """Bytes with a flipped bit, an end that is cut off, a doubled part, or bytes that do not belong."""
    if not content:
        return random.randbytes(random.randint(1, 20))
    at = random.randrange(len(content))
    mutations: Sequence[Callable[[], bytes]] = (
        lambda: content[:at] + bytes((content[at] ^ 1 << random.randrange(8),)) + content[at + 1 :],
        lambda: content[:at],
        lambda: content[:at] + content[at:] * 2,
        lambda: content[:at] + random.choice(_FOREIGN_BYTES) + content[at:],
        lambda: content[:at] + random.randbytes(random.randint(1, 8)) + content[at:],
        lambda: content[at:] + content[:at],
        lambda: content * random.choice((2, 50)),
    )
    return random.choice(mutations)()
