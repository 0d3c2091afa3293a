"""Tells a supervisor that the server answers."""

from litestar import HttpMethod, route


@route("/healthz", http_method=[HttpMethod.GET, HttpMethod.HEAD], sync_to_thread=False)
def healthz() -> dict[str, str]:
    """Say that all is well."""
    return {"status": "ok"}
