"""`ontoref serve`"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ontoref.cli.output import note

__all__ = ["serve"]


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0: any free port.")] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open the pages in the browser.")] = False,
    store: Annotated[str | None, typer.Option(metavar="FILE", help="Show a DuckDB export instead.")] = None,
) -> int:
    """Show sessions, decisions and records in the browser, on this machine alone, until interrupted.

    The address that it prints holds the token of this run; without it nothing is answered. Nothing can be
    written through it but decisions on proposals for lessons, at /lessons.html.

    \b
    Example:
      ontoref serve --open
      curl -H "Authorization: Bearer TOKEN" http://127.0.0.1:PORT/api/sessions
    """
    import contextlib
    import secrets

    from ontoref.cli.serving import data_of
    from ontoref.web.run import bound, check_installed, url_of
    from ontoref.web.run import serve as run

    check_installed()
    data = data_of(store)
    token = secrets.token_urlsafe(32)
    listening = bound(port)
    url = url_of(listening, token)
    # To interrupt it is how it is ended.
    with contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write(url + "\n")
        sys.stdout.flush()
        note("stop it with Ctrl-C")
        if browser:
            import webbrowser

            webbrowser.open(url)
        run(data, listening, token)
    return 0
