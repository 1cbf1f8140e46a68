"""What a command costs before it has anything to do: `record` of one record, and `--help`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from statistics import median

from benchmarks.corpus import records
from benchmarks.table import Contender, Place, Row, command
from ontoref.vocabulary import load

__all__ = ["CONTENDERS", "ROWS"]

_CHECKOUT = Path(__file__).resolve().parent.parent
# One start takes hundredths of a second: a round takes the median of several.
_TIMES = 9
_LOADED = (
    "import sys\nfrom ontoref.cli.main import run\n"
    "try:\n    run(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
    "print('\\n'.join(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)\n"
)


def _bare(place: Place) -> Mapping[str, str]:
    """The environment of a sandbox that neither has nor writes bytecode for what was installed.

    Shape: the standard library keeps its own. What `record` loads is copied without its bytecode.
    """
    bare = place.folder / "bare"
    if not bare.exists():
        given = [place.python, "-c", _LOADED, *_record_words(place)[1:]]
        loaded = subprocess.run(given, capture_output=True, check=True, cwd=_CHECKOUT, text=True).stderr.split()
        leave_out = shutil.ignore_patterns("__pycache__")
        for name in ("ontoref", "schemas", "migrations", "hooks"):
            if (_CHECKOUT / name).is_dir():
                shutil.copytree(_CHECKOUT / name, bare / name, ignore=leave_out)
        for folder in map(Path, filter(lambda path: path.endswith("site-packages"), sys.path)):
            for name in loaded:
                if (folder / name).is_dir() and not (bare / name).exists():
                    shutil.copytree(folder / name, bare / name, ignore=leave_out)
    return {"PYTHONPATH": str(bare), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": ""}


def _record_words(place: Place) -> list[str]:
    source = place.folder / "one.json"
    if not source.exists():
        made = next(islice(records(load()), 1, None))
        # Without an id each run adds a line; without a revision git is asked for it, as agents leave it to us.
        for name in ("id", "revision", "vocabulary", "witness"):
            made.pop(name, None)
        source.write_text(json.dumps(made))
    return ["ontoref", "interaction", "record", str(source), "--log", str(place.folder / "recorded")]


def _several(run: Callable[[], float]) -> float:
    return median(run() for _ in range(_TIMES))


def nothing(place: Place) -> float:
    return _several(lambda: command([place.python, "-c", "pass"]))


def nothing_bare(place: Place) -> float:
    env = _bare(place)
    return _several(lambda: command([place.python, "-c", "pass"], env=env))


def record(place: Place) -> float:
    words = [place.python, "-m", *_record_words(place)]
    return _several(lambda: command(words))


def record_bare(place: Place) -> float:
    words, env = [place.python, "-m", *_record_words(place)], _bare(place)
    return _several(lambda: command(words, env=env))


def overview(place: Place) -> float:
    return _several(lambda: command([place.python, "-m", "ontoref", "--help"]))


CONTENDERS: dict[str, Contender] = {
    "python -c pass": nothing,
    "python -c pass, no bytecode": nothing_bare,
    "record": record,
    "record, no bytecode": record_bare,
    "--help": overview,
}

ROWS = [
    Row("record of one record, fsync, whole", "record", "python -c pass", 10, 8),
    Row("record, no bytecode files", "record, no bytecode", "python -c pass, no bytecode", 14, 12),
    Row("--help", "--help", "python -c pass", 8, 6.5),
]
