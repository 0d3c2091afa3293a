"""Sealed cursors: the end position of a page, bound to its query. Clients can neither read, forge nor reuse them.

A position holds key values, which a client may not be allowed to see. It is encrypted with a keystream made from its
own signature, so that nothing random and no counter has to be kept: the signature of an altered cursor does not match.
"""

import base64
import binascii
from hashlib import blake2b
from hmac import compare_digest

import msgspec

from zataku.table.backend.errors import BadCursor
from zataku.table.backend.port import Position
from zataku.table.backend.values import pack, unpack

_SIGNATURE_BYTES = 16
_BLOCK_BYTES = 64


def sign(position: Position, fingerprint: bytes, secret: bytes) -> str:
    """The cursor for a position in the query with this fingerprint."""
    payload = pack(dict(position))
    signature = _signature(payload, fingerprint, secret)
    return base64.urlsafe_b64encode(signature + _crypt(payload, signature, secret)).rstrip(b"=").decode()


def read(cursor: str, fingerprint: bytes, secret: bytes) -> Position:
    """The position in a cursor; raises `BadCursor` unless it was signed for this query."""
    try:
        content = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        signature = content[:_SIGNATURE_BYTES]
        payload = _crypt(content[_SIGNATURE_BYTES:], signature, secret)
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


def _crypt(text: bytes, signature: bytes, secret: bytes) -> bytes:
    """Encrypt or decrypt a payload, by the keystream that belongs to its signature."""
    blocks = range(-(-len(text) // _BLOCK_BYTES))
    keystream = b"".join(
        blake2b(signature + block.to_bytes(4, "big"), key=secret, person=b"zataku-keystream").digest()
        for block in blocks
    )
    return bytes(ours ^ key for ours, key in zip(text, keystream, strict=False))
