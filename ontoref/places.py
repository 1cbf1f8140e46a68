"""The user's folders on this platform: state, cache, configuration.

Our own few lines, because the folders are wanted on every start and the usual library costs milliseconds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

__all__ = ["cache_dir", "config_dir", "environment_path", "state_dir"]

_UNSET = frozenset({"", "undefined", "null"})


def environment_path(name: str, environ: Mapping[str, str]) -> str | None:
    """Value of a variable that holds a path; `undefined`, `null` and blank count as unset."""
    value = environ.get(name, "").strip()
    return None if value in _UNSET else os.path.expanduser(value)


def state_dir(environ: Mapping[str, str] = os.environ) -> str:
    """Where local databases live: ONTOREF_STATE_DIR, else the platform's user data folder."""
    return environment_path("ONTOREF_STATE_DIR", environ) or _platform_dir("data", environ)


def cache_dir(environ: Mapping[str, str] = os.environ) -> str:
    """Where compiled vocabularies live: ONTOREF_CACHE_DIR, else the platform's cache folder."""
    return environment_path("ONTOREF_CACHE_DIR", environ) or _platform_dir("cache", environ)


def config_dir(environ: Mapping[str, str] = os.environ) -> str:
    """Where private keys live: ONTOREF_CONFIG_DIR, else the platform's configuration folder."""
    return environment_path("ONTOREF_CONFIG_DIR", environ) or _platform_dir("config", environ)


def _platform_dir(use: str, environ: Mapping[str, str]) -> str:
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        leaf = {"data": "State", "cache": "Cache", "config": "Config"}[use]
        return os.path.join(base, "ontoref", leaf)
    if sys.platform == "darwin":
        leaf = {"data": "Application Support", "cache": "Caches", "config": "Preferences"}[use]
        return os.path.join(home, "Library", leaf, "ontoref")
    variable, default = {
        "data": ("XDG_DATA_HOME", ".local/share"),
        "cache": ("XDG_CACHE_HOME", ".cache"),
        "config": ("XDG_CONFIG_HOME", ".config"),
    }[use]
    return os.path.join(environment_path(variable, environ) or os.path.join(home, default), "ontoref")
