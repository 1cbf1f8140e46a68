"""Where the files lie that ship with ontoref: schemas, migrations, hooks.

In a checkout (an editable install too) they are folders beside the package, in a wheel they are inside it.
An editable install also copies them into site-packages, where `importlib.resources` does not look; so the
place is found from this file, never from the distribution's metadata.
"""

from __future__ import annotations

import os

__all__ = ["folder", "text"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_SHIPPED = os.path.join(_PACKAGE, "_data")


def folder(name: str) -> str:
    """Absolute path of `schemas`, `migrations` or `hooks`. It may not exist in a damaged install."""
    shipped = os.path.join(_SHIPPED, name)
    return shipped if os.path.isdir(shipped) else os.path.join(os.path.dirname(_PACKAGE), name)


def text(name: str, path: str) -> str:
    """Text of one shipped file. Errors: OSError if the install lacks it."""
    with open(os.path.join(folder(name), path), encoding="utf-8") as file:
        return file.read()
