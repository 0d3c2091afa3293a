"""The attacks in their order, with their bounds in a full run and in the short one of the tests."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Literal, TypeAlias

import msgspec

from bench.attack.attackers import (
    comments,
    crowds,
    exports,
    frames,
    fuzzed_messages,
    fuzzed_requests,
    headers,
    requests,
)
from bench.attack.outcome import Outcome
from bench.attack.pace import Bounds
from bench.attack.target import Target

Size: TypeAlias = Literal["full", "short"]
Run: TypeAlias = Callable[[Target, Bounds, Random], Awaitable[Outcome]]


class Attack(msgspec.Struct, frozen=True):
    """An attack: its name, its coroutine, and its bounds by the size of a run."""

    name: str
    run: Run
    full: Bounds
    short: Bounds

    def bounds(self, size: Size) -> Bounds:
        """The bounds of a size."""
        return self.full if size == "full" else self.short


def _bounds(messages: int, seconds: float, connections: int) -> Bounds:
    return Bounds(messages=messages, seconds=seconds, connections=connections)


ATTACKS = (
    Attack("pongs", frames.pong_flood, _bounds(2_000_000, 8, 1), _bounds(20_000, 2, 1)),
    Attack("frame-floods", frames.mixed_flood, _bounds(1_000_000, 8, 8), _bounds(20_000, 2, 8)),
    Attack("frames-after-close", frames.frames_after_close, _bounds(500_000, 6, 4), _bounds(5_000, 1, 4)),
    Attack("invalid-frames", frames.invalid_frames, _bounds(2_000, 10, 20), _bounds(80, 3, 10)),
    Attack("one-byte-chunks", requests.one_byte_chunks, _bounds(1_000_000, 8, 3), _bounds(20_000, 2, 3)),
    Attack("pipelines", requests.pipelined_requests, _bounds(4_000, 13, 8), _bounds(800, 3, 8)),
    Attack("malformed-requests", requests.malformed_requests, _bounds(2_000, 13, 20), _bounds(160, 3, 20)),
    Attack("slow-requests", requests.slow_requests, _bounds(50_000, 40, 500), _bounds(1_000, 10, 50)),
    Attack("hostile-headers", headers.hostile_headers, _bounds(2_400, 24, 2_400), _bounds(250, 3, 300)),
    Attack("idle-connections", crowds.idle_connections, _bounds(4_000, 15, 4_000), _bounds(200, 3, 200)),
    Attack("topic-joins", crowds.topic_joins, _bounds(60_000, 12, 200), _bounds(1_500, 3, 20)),
    Attack("full-subscriptions", crowds.full_subscriptions, _bounds(66_000, 15, 3_300), _bounds(1_000, 2, 50)),
    Attack("guests-of-one-address", comments.crowd_behind_one_address, _bounds(10_000, 12, 700), _bounds(100, 3, 30)),
    Attack("costly-comments", comments.costly_comments, _bounds(2_400, 12, 200), _bounds(60, 3, 20)),
    Attack("unread-exports", exports.unread_exports, _bounds(1_000, 10, 1_000), _bounds(40, 2, 40)),
    Attack("slow-readers", crowds.slow_readers, _bounds(8_000, 15, 200), _bounds(120, 3, 20)),
    Attack("fuzzed-requests", fuzzed_requests.fuzzed_requests, _bounds(6_000, 40, 20), _bounds(1_000, 5, 10)),
    Attack("fuzzed-messages", fuzzed_messages.fuzzed_messages, _bounds(40_000, 25, 40), _bounds(1_000, 5, 10)),
)
