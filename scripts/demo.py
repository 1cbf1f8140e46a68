"""Show what ontoref does, on the records in examples/: python3 scripts/demo.py.

Makes .venv if it is not there and installs ontoref into it. Works on a copy: nothing in the checkout changes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from environment import ROOT, ensure

GOOD = [
    *("--kind", "Design", "--domain", "Query", "--outcome", "Completed", "--actor", "Human"),
    *("--session", "demo", "--summary", "Tried the demo and liked the answer first."),
    *("--decision", '{"id": "answer-first", "reversible": true, "adr_candidate": true, "rationale": "People scan."}'),
]
BAD = '{"kind":"Fxi","domain":"Cli","outcome":"Done","actor":"Human","summary":"Tried.","decisions":[{"id":"x"}]}'


def main() -> int:
    """0 if each command ended as it should."""
    python = ensure(["-e", "."], label="run")
    with tempfile.TemporaryDirectory(prefix="ontoref-demo-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples" / "interactions", folder / ".ontoref" / "interactions")
        (folder / "bad.json").write_text(BAD, encoding="utf-8")
        environment = {
            **os.environ,
            "ONTOREF_CACHE_DIR": str(folder / "cache"),
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
        }

        def show(said: str, *words: str, expected: int = 0) -> bool:
            print(f"\n# {said}\n$ ontoref {shlex.join(words)}", flush=True)
            done = subprocess.run([python, "-m", "ontoref", *words], cwd=folder, env=environment, check=False)
            if done.returncode != expected:
                print(f"!! this should have ended with {expected}, not {done.returncode}")
            return done.returncode == expected

        steps = [
            show("A session records what it decided.", "interaction", "record", *GOOD),
            show("An agent gets a record wrong, and can mend it from the answer alone.",
                 "interaction", "record", "bad.json", expected=1),
            show("CI checks every record.", "interaction", "validate"),
            show("A reviewer asks which decisions deserve an ADR and still wait for one.",
                 "interaction", "decisions", "--adr-candidates", "--open"),
            show("… what was said about one of them,", "interaction", "show", "answer-first"),
            show("… and who touched what.", "interaction", "files", "ontoref/interaction/**"),
        ]  # fmt: skip
    print("\nNext: `ontoref init` in a repository of yours (README.md).")
    return 0 if all(steps) else 1


if __name__ == "__main__":
    sys.exit(main())
