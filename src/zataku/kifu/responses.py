"""Results of analyses as text that is small enough for an item."""

import zlib
from base64 import b64decode, b64encode
from typing import Final

from zataku.kifu.limits import RESPONSE_BYTES, Response, check_bytes

MARK: Final = "zlib:"
LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a result before it is compressed: what is larger is neither packed nor unpacked."""


def packed(result: str) -> Response:
    """The result compressed, where that is shorter; refused when it does not fit all the same."""
    check_bytes(result, LARGEST, "The result of the analysis before it is compressed")
    small = MARK + b64encode(zlib.compress(result.encode(), 9)).decode()
    response = small if len(small) < len(result.encode()) or result.startswith(MARK) else result
    check_bytes(response, RESPONSE_BYTES, "The result of the analysis")
    return response


def unpacked(response: Response) -> str:
    """The result as the engine's side wrote it."""
    if not response.startswith(MARK):
        return response
    opening = zlib.decompressobj()
    result = opening.decompress(b64decode(response[len(MARK) :], validate=True), LARGEST)
    if not opening.eof:
        raise ValueError("The result of the analysis is cut off or larger than it may be.")
    return result.decode()
