"""The project's own virtual environment: made once, brought up to date when pyproject.toml changes.

Needs nothing but Python 3.11; the scripts beside it start with it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def python_of(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def group(name: str) -> list[str]:
    """The requirements of one dependency group of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["dependency-groups"][name])


def build_requirements() -> list[str]:
    """What building the wheel needs."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return list(tomllib.load(file)["build-system"]["requires"])


def extras() -> list[str]:
    """Names of all extras."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return sorted(tomllib.load(file)["project"]["optional-dependencies"])


def ensure(requirements: list[str], *, label: str, folder: Path = ROOT / ".venv") -> Path:
    """The interpreter of an environment that holds the requirements; installs only what has changed.

    Errors: SystemExit with the installer's own words if an installation fails.
    """
    if sys.version_info < (3, 11):  # noqa: UP036 (a person may start this with an older Python)
        raise SystemExit(f"ontoref needs Python 3.11 or newer, this is {sys.version.split()[0]}")
    python = python_of(folder)
    stamp = folder / f".installed-{label}"
    wanted = hashlib.sha256()
    wanted.update((ROOT / "pyproject.toml").read_bytes())
    wanted.update("\n".join(requirements).encode())
    if python.exists() and stamp.exists() and stamp.read_text() == wanted.hexdigest():
        return python
    if not python.exists():
        print(f"making {folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder} …", flush=True)
        venv.create(folder, with_pip=True)
    print(f"installing ontoref ({label}) …", flush=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *requirements], cwd=ROOT, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the installation failed (exit {done.returncode}); the lines above say why")
    stamp.write_text(wanted.hexdigest())
    return python
