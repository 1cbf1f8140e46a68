"""Build the wheel and run the tests against it, in an environment and a folder that never saw the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from environment import ROOT, build_requirements, ensure, extras, group, python_of

# What the tests read beside themselves. The package's own folders are left out on purpose.
BESIDE = ("tests", "examples", "pyproject.toml")


def main() -> int:
    """The tests' exit code; also fails if the wheel does not start with its core dependencies alone."""
    with tempfile.TemporaryDirectory(prefix="ontoref-wheel-") as name:
        work = Path(name)
        builder = ensure([*build_requirements(), "build"], label="build", folder=work / "builder")
        subprocess.run(
            [builder, "-m", "build", "--wheel", "--no-isolation", "--outdir", work / "dist", ROOT],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (wheel,) = (work / "dist").glob("*.whl")
        print(f"built {wheel.name}, {wheel.stat().st_size / 1000:.0f} kB", flush=True)
        bare = ensure([str(wheel)], label="bare", folder=work / "bare")
        for words in (["--help"], ["vocabulary", "list"], ["interaction", "template"]):
            subprocess.run([bare, "-m", "ontoref", *words], check=True, stdout=subprocess.DEVNULL, cwd=work)
        print("starts with its core dependencies alone", flush=True)
        ensure([f"{wheel}[{','.join(extras())}]", *group("test")], label="full", folder=work / "full")
        place = work / "place"
        place.mkdir()
        for entry in BESIDE:
            source = ROOT / entry
            if source.is_dir():
                shutil.copytree(source, place / entry, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, place / entry)
        words = sys.argv[1:] or ["-n", "auto", "--dist", "worksteal", "-q"]
        command = [str(python_of(work / "full")), "-m", "pytest", *words]
        return subprocess.run(command, cwd=place, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
