"""The opening handshake of a socket: the request as uvicorn hands it over, and the response that refuses it."""

from http import HTTPStatus

import msgspec
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader
from websockets.http11 import Request, Response

from zataku.errors import InvalidRequest, Problem


def parse_request(head: bytes) -> Request:
    """The request of a handshake, from the bytes that uvicorn writes of a request that it has parsed.

    The parser of the websockets library would apply limits of its own, below those of other requests. Raises
    `InvalidRequest` for a request that cannot open a socket.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    method, target, protocol = first.decode("ascii").split(" ")
    headers = Headers()
    for line in lines:
        name, _, value = line.decode("latin-1").partition(": ")
        try:
            headers[name] = value
        except InvalidHeader as error:  # other requests may have control characters there
            raise InvalidRequest("A header of the request has control characters. Send it without them.") from error
    if _has_body(headers):
        raise InvalidRequest("The request for a socket has a body. Send it without one.")
    return Request(target, headers, method, protocol)


def _has_body(headers: Headers) -> bool:
    return "Transfer-Encoding" in headers or any(length != "0" for length in headers.get_all("Content-Length"))


def refusal(status: int, message: str) -> Response:
    """The response that refuses a handshake, with an error like that of every other request."""
    phrase = HTTPStatus(status).phrase
    body = msgspec.json.encode({"error": Problem(refusal_code(status), message)})
    headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"})
    return Response(status, phrase, headers, body)


def refusal_code(status: int) -> str:
    """The code of the error of a refused handshake."""
    return HTTPStatus(status).phrase.lower().replace(" ", "_")
