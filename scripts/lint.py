"""Format, lint and types, as CI checks them: python3 scripts/lint.py."""

from __future__ import annotations

import subprocess
import sys

from environment import ROOT, ensure, extras, group

CHECKS = (["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"], ["ontoref.state.guard"])


def main() -> int:
    """0 if every check passes; all of them run."""
    python = ensure(["-e", f".[{','.join(extras())}]", *group("test"), *group("lint")], label="lint")
    codes = [subprocess.run([python, "-m", *check], cwd=ROOT, check=False).returncode for check in CHECKS]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
