"""Cursors: where a page ended, signed so that a client can keep one but neither forge it nor use it elsewhere."""

import base64
import binascii
from hashlib import blake2b
from hmac import compare_digest

import msgspec

from zataku.table.backend.errors import BadCursor
from zataku.table.backend.port import Position
from zataku.table.backend.values import pack, unpack

_SIGNATURE = 16


def sign(position: Position, fingerprint: bytes, secret: bytes) -> str:
    """The cursor for a position in the query with this fingerprint."""
    payload = pack(dict(position))
    return base64.urlsafe_b64encode(_signature(payload, fingerprint, secret) + payload).rstrip(b"=").decode()


def read(cursor: str, fingerprint: bytes, secret: bytes) -> Position:
    """The position of a cursor that was made for this very query."""
    try:
        content = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        signature, payload = content[:_SIGNATURE], content[_SIGNATURE:]
        genuine = compare_digest(signature, _signature(payload, fingerprint, secret))
        # A cursor has exactly one spelling; otherwise spare bits at its end could be changed unnoticed.
        if genuine and sign(unpack(payload), fingerprint, secret) == cursor:
            return unpack(payload)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        pass
    raise BadCursor("The cursor is damaged or belongs to another query. Start again from the first page.")


def _signature(payload: bytes, fingerprint: bytes, secret: bytes) -> bytes:
    # The fingerprint's length goes first, so that bytes cannot move between it and the payload.
    head = len(fingerprint).to_bytes(4, "big")
    return blake2b(head + fingerprint + payload, key=secret, digest_size=_SIGNATURE, person=b"zataku-cursor").digest()
