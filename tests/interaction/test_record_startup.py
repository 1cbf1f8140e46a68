"""What `record` loads. Agents call it many times a session, so each module has to be worth its milliseconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT, App

OPTIONS = ["--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--summary", "x"]
AGENT = {"CLAUDECODE": "1", "ONTOREF_SESSION_ID": "s-42"}

OURS = {
    "ontoref",
    "ontoref.appending",
    "ontoref.cli",
    "ontoref.cli.commands",
    "ontoref.cli.complete",
    "ontoref.cli.interaction",
    "ontoref.cli.interaction._recording",
    "ontoref.cli.interaction.record",
    "ontoref.cli.lazy",
    "ontoref.cli.main",
    "ontoref.cli.output",
    "ontoref.errors",
    "ontoref.git",
    "ontoref.identifiers",
    "ontoref.interaction",
    "ontoref.interaction.check",
    "ontoref.interaction.finding",
    "ontoref.interaction.given",
    "ontoref.interaction.log",
    "ontoref.interaction.names",
    "ontoref.interaction.project",
    "ontoref.interaction.record",
    "ontoref.interaction.rules",
    "ontoref.interaction.store",
    "ontoref.places",
    "ontoref.resources",
    "ontoref.secrets",
    "ontoref.text",
    "ontoref.vocabulary",
    "ontoref.vocabulary.engine",
    "ontoref.vocabulary.problem",
    "ontoref.vocabulary.load",
    "ontoref.vocabulary.model",
}
# Beyond what typer and the two compiled libraries load of their own accord.
STANDARD = {"gc", "hashlib", "_hashlib", "_blake2", "_sha2", "_sha512", "_sha256", "stat", "mmap", "glob"}
LIBRARIES = {"orjson", "jsonschema_rs", "typer", "click"}

_PROBE = """
import sys
import typer, orjson, jsonschema_rs
before = set(sys.modules)
from ontoref.cli.main import run
code = run(sys.argv[1:])
import json
sys.stderr.write("\\n" + json.dumps([code, sorted(set(sys.modules) - before)]))
"""


def loaded(app: App, *words: str) -> tuple[int, set[str]]:
    """Exit code and modules that a command loads beside typer, orjson and jsonschema-rs."""
    environment = {**os.environ, **AGENT, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, "interaction", "record", *words],
        cwd=app.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, set(names)


@pytest.mark.parametrize("way", ["options", "file", "lines"])
def test_record_loads_a_stated_list_of_modules(app: App, way: str) -> None:
    record = {"kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "x", "events": [{"kind": "Finding"}]}
    text = json.dumps(record, indent=1) if way == "file" else f"{json.dumps(record)}\n{json.dumps(record)}\n"
    (app.folder / "rec.json").write_text(text)
    assert app("interaction", "record", *OPTIONS, env=AGENT).code == 0
    code, names = loaded(app, *(OPTIONS if way == "options" else ["rec.json"]))
    assert code == 0
    ours = {name for name in names if name.partition(".")[0] == "ontoref"}
    libraries = {name.partition(".")[0] for name in names} - {"ontoref"} - set(sys.stdlib_module_names)
    standard = {name for name in names if name.partition(".")[0] in sys.stdlib_module_names}
    assert ours <= OURS, "a module of ours is new at this start: state it in OURS if it is worth its time"
    assert libraries <= LIBRARIES
    assert standard <= STANDARD, "a module of the standard library is new at this start"


def test_a_project_with_settings_of_comments_pays_no_yaml(app: App) -> None:
    assert app("init").code == 0
    assert app("interaction", "record", *OPTIONS, env=AGENT).code == 0
    code, names = loaded(app, *OPTIONS)
    assert code == 0
    assert not any(name.startswith(("ruamel", "jsonschema.", "tabulate")) for name in names)


def test_nothing_heavy_is_loaded_by_help(app: App) -> None:
    code, names = loaded(app, "--help")
    assert code == 0
    assert not {"ontoref.vocabulary", "ontoref.interaction.check", "ontoref.interaction.log"} & names


def test_the_list_names_modules_that_exist() -> None:
    import importlib.util

    assert [name for name in OURS if importlib.util.find_spec(name) is None] == []
