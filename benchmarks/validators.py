"""Other validators beside ours: whole commands that judge the same records by the same schema.

None is needed: one that is not on the machine is left out, and the run says so. Before one is timed it has to take clean
records and refuse what the schema refuses; what lies beyond a schema (a key twice, an id twice) is told in a table.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from benchmarks.corpus import FAULTS, spoilt
from benchmarks.table import Contender, Measured, Place, Row, command
from ontoref.vocabulary import load

__all__ = [
    "BEYOND",
    "CONTENDERS",
    "LEFT_OUT",
    "MODULES",
    "OURS",
    "PRESENT",
    "ROWS",
    "Tool",
    "faithful",
    "judge",
    "samples",
    "tools",
    "verdicts",
]

_HERE = Path(__file__).parent
MODULES = _HERE / "node_modules"
_NPM = "npm install --prefix benchmarks --no-package-lock"
# A validator that takes one document a file is given so many files: it takes a millisecond for each.
_FILES = 2_000
_MACHINES = {"amd64": "x86_64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True)
class Tool:
    """A validator as a command.

    Shape: words(place, paths) is the command that judges the records in these files; no are the exit codes that say
           that one is bad; a_file if it takes one record a file; missing says how to get what is not here.
    """

    name: str
    words: Callable[[Place, Sequence[str]], list[str]]
    version: str = ""
    missing: str = ""
    no: tuple[int, ...] = (1,)
    a_file: bool = False


def _schema(place: Place) -> str:
    """What `ontoref interaction schema --bundle` prints."""
    path = place.folder / "schema.json"
    if not path.exists():
        path.write_text(json.dumps(load().schema))
    return str(path)


def _ours(place: Place, paths: Sequence[str]) -> list[str]:
    return [place.python, "-m", "ontoref", "interaction", "validate", *paths]


def _ajv(place: Place, paths: Sequence[str]) -> list[str]:
    return ["node", str(_HERE / "ajv.mjs"), str(MODULES), _schema(place), *paths]


def _sourcemeta_program() -> Path | None:
    """The program that the package brings, which starts faster by itself than through Python."""
    found = find_spec("sourcemeta_jsonschema")
    if found is None or not found.submodule_search_locations:
        return None
    machine = platform.machine().lower()
    end = ".exe" if platform.system() == "Windows" else ""
    name = f"jsonschema-{platform.system().lower()}-{_MACHINES.get(machine, machine)}{end}"
    path = Path(found.submodule_search_locations[0]) / name
    return path if os.access(path, os.X_OK) else None


def _sourcemeta(place: Place, paths: Sequence[str]) -> list[str]:
    """In its fast mode, which says less about what is wrong; by itself it takes any date."""
    return [str(_sourcemeta_program()), "validate", "--fast", "--format-assertion", _schema(place), *paths]


def _check_jsonschema(place: Place, paths: Sequence[str]) -> list[str]:
    given = [place.python, "-m", "check_jsonschema", "--schemafile", _schema(place), "--force-filetype", "json"]
    return [*given, *paths]


def _npm_version(package: str) -> str:
    try:
        return str(json.loads((MODULES / package / "package.json").read_text())["version"])
    except OSError:
        return ""


def _pip_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def tools() -> Iterator[Tool]:
    """Every other validator, here or not."""
    found = _npm_version("ajv") if _npm_version("ajv-formats") else ""
    needs = "" if shutil.which("node") else "node, and "
    yield Tool("ajv", _ajv, found, needs + _NPM if needs or not found else "")
    found = _pip_version("sourcemeta-jsonschema") if _sourcemeta_program() else ""
    missing = "" if found else "pip install sourcemeta-jsonschema"
    # 2: a record is bad; 6: a line is no JSON.
    yield Tool("sourcemeta jsonschema", _sourcemeta, found, missing, no=(2, 6))
    found = _pip_version("check-jsonschema")
    missing = "" if found else "pip install check-jsonschema"
    yield Tool("check-jsonschema", _check_jsonschema, found, missing, a_file=True)


OURS = Tool("ontoref", _ours, _pip_version("ontoref"))
PRESENT = [tool for tool in tools() if not tool.missing]
LEFT_OUT = [f"{tool.name} is not here and left out: {tool.missing}" for tool in tools() if tool.missing]


# What each of them sees ----------------------------------------------------------------------------------------

# Not for a schema to say: whoever finds it does more.
BEYOND = ("a key twice in an object", "an id twice in the log", "bytes that are not UTF-8")


def samples(place: Place, before: int) -> dict[str, list[bytes]]:
    """So many records, a spoilt one, and one more, by what is wrong with it; nothing is wrong under ""."""
    *clean, second, third = place.lines[: before + 2]
    record = json.loads(second)

    def changed(**fields: object) -> bytes:
        return json.dumps(record | fields).encode()

    told = {
        "enum": "a word that the enum lacks",
        "required": "a field missing",
        "type": "a value of another type",
        "unknown-field": "a field that the schema lacks",
        "pattern": "an id of another form",
        "torn": "a torn line",
        "duplicate-key": BEYOND[0],
    }
    # Nought draws the first of each kind of fault; a torn line keeps its first bytes.
    bad = {told[fault]: spoilt(second, fault, lambda: 0.0) for fault in FAULTS}
    bad["a 30th of February"] = changed(recorded_at="2026-02-30T10:00:00Z")
    bad[BEYOND[1]] = changed(id=json.loads(clean[0])["id"])
    bad[BEYOND[2]] = second.replace(b'"summary":"', b'"summary":"\xff', 1)
    ordered = sorted(bad, key=lambda name: name in BEYOND)
    return {"": [*clean, second, third], **{name: [*clean, bad[name], third] for name in ordered}}


def judge(tool: Tool, place: Place, lines: Sequence[bytes]) -> bool:
    """Does the tool accept these records? Errors: RuntimeError if it did not run."""
    folder = place.folder / "judged"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, chosen in enumerate(([line] for line in lines) if tool.a_file else [lines]):
        (folder / f"{number}.jsonl").write_bytes(b"".join(line + b"\n" for line in chosen))
    words = tool.words(place, sorted(map(str, folder.iterdir())))
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode not in (0, *tool.no):
        raise RuntimeError(f"{tool.name}: exit {done.returncode}: {(done.stderr or done.stdout).decode()[-400:]}")
    return done.returncode == 0


_seen: dict[str, dict[str, bool]] = {}


def faithful(tool: Tool, place: Place) -> dict[str, bool]:
    """Which samples the tool takes. Errors: RuntimeError if it is of another mind about what the schema says."""
    if tool.name not in _seen:
        # More than the block that a file is read by, so that the far end is seen to be judged.
        chosen = samples(place, 1 if tool.a_file else 1000)
        seen = {name: judge(tool, place, lines) for name, lines in chosen.items()}
        wrong = [name or "clean records" for name, yes in seen.items() if yes != (name == "") and name not in BEYOND]
        if wrong:
            raise RuntimeError(f"{tool.name} judges otherwise than the schema: {', '.join(wrong)}")
        _seen[tool.name] = seen
    return _seen[tool.name]


def verdicts(place: Place, measured: Measured) -> str:
    """The table in Markdown of who refuses what, and what a record cost where that was measured."""
    shown = [OURS, *PRESENT]
    seen = [faithful(tool, place) for tool in shown]
    rows = [["refuses", *(f"{tool.name} {tool.version}" for tool in shown)], ["---"] * (len(shown) + 1)]
    for name in list(seen[0])[1:]:
        rows.append([name, *("no" if accepted[name] else "yes" for accepted in seen)])

    def cost(name: str, records: int) -> str:
        return f"{measured.median(name) / records * 1e6:.1f}" if name in measured.seconds else "-"

    ours = f"{cost('validate', place.records)}; one process {cost('validate --jobs 1', place.records)}"
    theirs = [cost(tool.name, min(_FILES, place.records) if tool.a_file else place.records) for tool in PRESENT]
    rows.append(["us a record, whole command", ours, *theirs])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


# What each of them takes ---------------------------------------------------------------------------------------


def _over_the_log(tool: Tool) -> Contender:
    def run(place: Place) -> float:
        faithful(tool, place)
        return command(tool.words(place, [str(place.log)]))

    return run


def _over_files(tool: Tool) -> Contender:
    def run(place: Place) -> float:
        faithful(tool, place)
        folder = place.folder / "singles"
        if not folder.exists():
            folder.mkdir()
            for number, line in enumerate(place.lines[:_FILES]):
                (folder / f"{number:05}.jsonl").write_bytes(line + b"\n")
        return command(tool.words(place, sorted(map(str, folder.iterdir()))))

    return run


CONTENDERS: dict[str, Contender] = {"validate of the same files": _over_files(OURS)}
ROWS: list[Row] = []
for _tool in PRESENT:
    if _tool.a_file:
        CONTENDERS[_tool.name] = _over_files(_tool)
        ROWS.append(Row(f"{_tool.name} of {_FILES:,} files", _tool.name, "validate of the same files"))
    else:
        CONTENDERS[_tool.name] = _over_the_log(_tool)
        ROWS.append(Row(f"{_tool.name}, whole", _tool.name, "validate --jobs 1"))
        ROWS.append(Row(f"{_tool.name}, whole", _tool.name, "validate"))
