"""The server as a process: a socket on this machine alone, until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from ontoref.errors import MissingExtra, OntorefError
from ontoref.web.data import Data

__all__ = ["PortTaken", "bound", "check_installed", "serve", "url_of"]

_BACKLOG = 1024


class PortTaken(OntorefError):
    """Somebody else listens there."""

    kind = "port"


def bound(port: int) -> socket.socket:
    """A socket on loopback that listens at a port; 0 takes any free one. Errors: PortTaken."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_REUSEADDR"):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
        found.listen(_BACKLOG)
    except OSError as error:
        found.close()
        raise PortTaken(
            f"port {port} cannot be used: {error.strerror}", hint="--port 0 takes any that is free"
        ) from None
    return found


def check_installed() -> None:
    """Errors: MissingExtra if what the server needs is not installed."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("web", error.name or "starlette") from None


def url_of(listening: socket.socket, token: str) -> str:
    """The address that opens the pages."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}/?token={token}"


def serve(
    data: Data, listening: socket.socket, token: str, *, ready: Callable[[Any], None] = lambda server: None
) -> None:
    """Answer until interrupted. ready gets the server before it begins. Errors: MissingExtra."""
    check_installed()
    import uvicorn

    from ontoref.web.app import create_app

    app = create_app(data, token=token, port=listening.getsockname()[1])
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        backlog=_BACKLOG,
        # Longer than any client keeps a connection: whoever closes first loses the request that was on its way.
        timeout_keep_alive=120,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    ready(server)
    server.run(sockets=[listening])
