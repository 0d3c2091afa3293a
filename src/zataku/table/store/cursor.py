"""Signed cursors: the end position of a page, bound to its query so that clients can neither forge nor reuse them."""

import base64
import binascii
from hashlib import blake2b
from hmac import compare_digest

import msgspec

from zataku.table.backend.errors import BadCursor
from zataku.table.backend.port import Position
from zataku.table.backend.values import pack, unpack

_SIGNATURE_BYTES = 16


def sign(position: Position, fingerprint: bytes, secret: bytes) -> str:
    """The cursor for a position in the query with this fingerprint."""
    payload = pack(dict(position))
    return base64.urlsafe_b64encode(_signature(payload, fingerprint, secret) + payload).rstrip(b"=").decode()


def read(cursor: str, fingerprint: bytes, secret: bytes) -> Position:
    """The position in a cursor; raises `BadCursor` unless it was signed for this query."""
    try:
        content = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        signature, payload = content[:_SIGNATURE_BYTES], content[_SIGNATURE_BYTES:]
        genuine = compare_digest(signature, _signature(payload, fingerprint, secret))
        # Only the canonical encoding is valid; otherwise spare bits at the end could be changed unnoticed.
        if genuine and sign(unpack(payload), fingerprint, secret) == cursor:
            return unpack(payload)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        pass
    raise BadCursor("The cursor is damaged or belongs to another query. Start again from the first page.")


def _signature(payload: bytes, fingerprint: bytes, secret: bytes) -> bytes:
    # The length prefix keeps bytes from moving between the fingerprint and the payload.
    head = len(fingerprint).to_bytes(4, "big")
    return blake2b(
        head + fingerprint + payload, key=secret, digest_size=_SIGNATURE_BYTES, person=b"zataku-cursor"
    ).digest()
