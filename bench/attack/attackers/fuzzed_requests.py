"""Mutated requests to every operation of the OpenAPI document."""

import asyncio
import re
from collections import deque
from random import Random
from urllib.parse import quote

import msgspec

from bench.attack.attackers.crowds import random_id
from bench.attack.connections import Connection, Response, connect
from bench.attack.mutations import (
    HOSTILE_HEADERS,
    HOSTILE_SEGMENTS,
    HOSTILE_TEXTS,
    METHODS,
    mutated_bytes,
    mutated_json,
)
from bench.attack.outcome import CLOSED, Outcome
from bench.attack.pace import Bounds, gather_bounded, paced, source_address
from bench.attack.samples import Schema, SchemaSampler
from bench.attack.target import Target

_FAMILY = 6
_ADDRESSES = 200
_DOCUMENT_ATTEMPTS = 6
_HALF_CLOSE_SECONDS = 3.0
_MAX_KNOWN = 50
_KNOWN = {"roomId": "room_id", "commentId": "comment_id", "code": "code", "next": "after", "seq": "seq"}
"""Fields of responses whose values are used again, and the parameters that take them."""
_METHOD_KEYS = ("get", "post", "put", "patch", "delete")


class Operation(msgspec.Struct, frozen=True):
    """An operation: its method and path, the schemas of its parameters by place, and of its body."""

    method: str
    path: str
    parameters: list[Schema]
    body: Schema | None


def operations(document: Schema) -> list[Operation]:
    """Every operation of an OpenAPI document."""
    found: list[Operation] = []
    for path, methods in document["paths"].items():
        for method in _METHOD_KEYS:
            if method in methods:
                of = methods[method]
                content = of.get("requestBody", {}).get("content", {})
                body = next((media["schema"] for media in content.values()), None)
                found.append(Operation(method.upper(), path, of.get("parameters", []), body))
    return found


class RequestFuzzer:
    """Makes requests near valid ones, with ids and cookies that earlier responses brought."""

    def __init__(self, document: Schema, target: Target, random: Random) -> None:
        self._operations, self._random, self._origin = operations(document), random, f"http://127.0.0.1:{target.port}"
        self.known: dict[str, deque[str]] = {name: deque(maxlen=_MAX_KNOWN) for name in _KNOWN.values()}
        self.known["room_id"].append(target.open_id)
        self.known["comment_id"].append(random_id(random))
        self.known["code"].append("123456")
        self.known["seq"].append("000010000001")
        self.known["commentId"] = self.known["comment_id"]
        self.cookies: deque[bytes] = deque(maxlen=_MAX_KNOWN)
        self._sampler = SchemaSampler(document, random, self.known)

    def request(self) -> tuple[bytes, bool]:
        """The next request, and whether it is still one request, after which another one can follow."""
        random, operation = self._random, self._random.choice(self._operations)
        method = operation.method.encode() if random.random() < 0.92 else random.choice(METHODS)
        body = b"" if operation.body is None else mutated_json(self._sampler.value(operation.body), random)
        lines = [b"%b %b HTTP/1.1" % (method, self._target(operation)), *self._headers()]
        content = b"\r\n".join([*lines, b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body
        if random.random() < 0.05:
            return mutated_bytes(content, random), False
        return content, method != b"HEAD"

    def learn(self, response: Response) -> None:
        """Remember the ids and cookies of a response."""
        for cookie in re.findall(rb"\r\nset-cookie: (zataku_(?:guest|session)=[^;]+)", response.content):
            self.cookies.append(cookie)
        if response.status < 300:
            for field, name in _KNOWN.items():
                pattern = rb'"%b":"([^"]{1,200})"' % field.encode()
                self.known[name].extend(value.decode("latin-1") for value in re.findall(pattern, response.body)[:5])

    def _target(self, operation: Operation) -> bytes:
        random, path = self._random, operation.path.encode()
        query: list[bytes] = []
        for parameter in operation.parameters:
            name = parameter["name"]
            value = str(self._sampler.value(parameter.get("schema", {}), name))
            if parameter["in"] == "path":
                is_hostile = random.random() < 0.15
                segment = random.choice(HOSTILE_SEGMENTS) if is_hostile else quote(value, safe="").encode()
                path = path.replace(b"{%b}" % name.encode(), segment)
            elif parameter.get("required") or random.random() < 0.6:
                text = random.choice(HOSTILE_TEXTS) if random.random() < 0.4 else value
                query.append(f"{name}={quote(text[:3000], safe='')}".encode())
        if random.random() < 0.05:
            query.append(random.choice((b"after=%ff", b"limit=1e9", b"&&&=", b"a" * 3000, b"limit=-1&limit=2", b"%")))
        if random.random() < 0.03:
            path = random.choice((b"//", b"/./", b"/../", b"/%2e/")) + path
        return path + (b"?" + b"&".join(query) if query else b"")

    def _headers(self) -> list[bytes]:
        random = self._random
        headers = [b"Host: " + self._origin[7:].encode(), b"Content-Type: application/json"]
        if self.cookies and random.random() < 0.8:
            headers += [b"Cookie: " + random.choice(self.cookies), b"Origin: " + self._origin.encode()]
        for _ in range(random.choice((0, 0, 0, 1, 1, 3))):
            hostile = random.choice(HOSTILE_HEADERS)
            # In place of the valid one or beside it: a second Host is refused whatever it names.
            if random.random() < 0.5:
                headers = [header for header in headers if _name(header) != _name(hostile)]
            headers.append(hostile)
        return headers


def _name(header: bytes) -> bytes:
    return header.partition(b":")[0]


async def fuzzed_requests(target: Target, bounds: Bounds, random: Random) -> Outcome:
    """Mutated requests; each must be answered without a fault, or its connection closed."""
    outcome = Outcome()
    document = await _document(target)
    # One for each worker: the order in which they are answered differs from run to run.
    fuzzers = [RequestFuzzer(document, target, Random(random.getrandbits(64))) for _ in range(bounds.connections)]

    async def work(number: int) -> None:
        share = bounds.messages // bounds.connections
        connection: Connection | None = None
        async for turn in paced(share, share / bounds.seconds, bounds.seconds):
            if connection is None:
                source = source_address(_FAMILY, (number + turn) % _ADDRESSES)
                connection = await connect(target.port, source, outcome)
                if connection is None:
                    continue
            if not await _exchange(connection, fuzzers[number]):
                connection.writer.transport.abort()
                connection = None
        if connection is not None:
            connection.writer.transport.abort()

    await gather_bounded(bounds.connections, work)
    return outcome


async def _exchange(connection: Connection, fuzzer: RequestFuzzer) -> bool:
    """Send one request and count its answer; False when the connection cannot be used again."""
    request, is_whole = fuzzer.request()
    if not await connection.send(request):
        connection.outcome.answer(CLOSED)
        return False
    answer = asyncio.create_task(connection.expect_answer(request))
    done, _ = await asyncio.wait([answer], timeout=_HALF_CLOSE_SECONDS)
    if not done and connection.writer.can_write_eof():
        # The mutation may have made the announced body longer than what was sent.
        connection.writer.write_eof()
        is_whole = False
    response = await answer
    if response is None:
        return False
    fuzzer.learn(response)
    return is_whole and b"\r\nconnection: close" not in response.content.lower()


async def _document(target: Target) -> Schema:
    # The other attacks have begun, and not every connection is accepted in time.
    for number in range(_DOCUMENT_ATTEMPTS):
        connection = await connect(target.port, source_address(_FAMILY, number), Outcome())
        if connection is not None:
            break
    else:
        raise ConnectionError("The server does not accept connections.")
    request = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    await connection.send(request)
    response = await connection.expect_answer(request)
    connection.writer.transport.abort()
    if response is None or response.status != 200:
        raise ConnectionError("The server did not send its OpenAPI document.")
    document: Schema = msgspec.json.decode(response.body)
    return document
