"""Run every test: python3 scripts/test.py [pytest's own words].

Makes .venv if it is not there, installs ontoref with its extras and the test dependencies, then runs pytest.
"""

from __future__ import annotations

import subprocess
import sys

from environment import ROOT, ensure, extras, group


def main() -> int:
    """The tests' exit code."""
    requirements = ["-e", f".[{','.join(extras())}]", *group("test")]
    python = ensure(requirements, label="test")
    words = sys.argv[1:] or ["-n", "auto", "--dist", "worksteal", "-q"]
    return subprocess.run([str(python), "-m", "pytest", *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
