"""Frames of a connection: made once, and valid for every receiver."""

import pytest
from websockets.frames import Frame, Opcode

from tests.realtime.sockets.memory_connection import frames_in
from zataku.realtime.sockets.connection import binary_frame, ping_frame, text_frame

# On both sides of every length at which the header of a frame grows.
LENGTHS = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_text_frame_is_byte_for_byte_what_websockets_would_send(length: int):
    payload = b"x" * length
    assert text_frame(payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)
    assert frames_in(text_frame(payload)) == [(Opcode.TEXT, payload)]


@pytest.mark.parametrize("length", [0, 123, 124, 65_533, 65_534])
def test_a_binary_frame_begins_with_its_channel_in_big_endian(length: int):
    payload = bytes(length)
    assert binary_frame(0x0102, payload) == Frame(Opcode.BINARY, b"\x01\x02" + payload).serialize(mask=False)
    assert frames_in(binary_frame(65_535, payload)) == [(Opcode.BINARY, b"\xff\xff" + payload)]


def test_a_ping_is_what_websockets_would_send():
    assert ping_frame() == Frame(Opcode.PING, b"").serialize(mask=False)


def test_concatenated_frames_are_read_one_by_one():
    written = text_frame("座卓".encode()) + ping_frame() + binary_frame(7, b"ink")
    assert frames_in(written) == [(Opcode.TEXT, "座卓".encode()), (Opcode.PING, b""), (Opcode.BINARY, b"\0\x07ink")]
