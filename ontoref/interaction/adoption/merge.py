"""Three texts into one: what the project made of a shipped file, and what has shipped since."""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass

__all__ = ["Merge", "merge"]


@dataclass(frozen=True, slots=True)
class Merge:
    """Shape: content is the merged text; clean is False where both sides changed the same lines (it then holds
    both texts between conflict markers)."""

    content: bytes
    clean: bool


def merge(local: bytes, base: bytes | None, shipped: bytes) -> Merge:
    """Merge with git's own line merge. base None: nobody knows what the project started from.

    Errors: none; without git the texts are put side by side as one conflict.
    """
    if local == shipped or base == shipped:
        return Merge(local, True)
    if base is not None and local == base:
        return Merge(shipped, True)
    with tempfile.TemporaryDirectory(prefix="ontoref-merge-") as folder:
        paths = [os.path.join(folder, name) for name in ("yours", "base", "shipped")]
        for path, content in zip(paths, (local, base or b"", shipped), strict=True):
            with open(path, "wb") as file:
                file.write(content)
        labels = [word for name in ("yours", "base", "shipped") for word in ("-L", name)]
        try:
            done = subprocess.run(["git", "merge-file", "-p", *labels, *paths], capture_output=True, check=False)
        except FileNotFoundError:
            both = b"<<<<<<< yours\n" + local + b"=======\n" + shipped + b">>>>>>> shipped\n"
            return Merge(both, False)
    return Merge(done.stdout, done.returncode == 0)
