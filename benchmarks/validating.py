"""What it costs to judge a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks.corpus import write
from benchmarks.table import Contender, Place, Row, command
from ontoref.vocabulary import load

__all__ = ["CONTENDERS", "ROWS", "engines"]

_FILES = 20_000


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def parse(place: Place) -> float:
    """The loop that everything is compared with."""
    from orjson import loads

    def loop() -> None:
        for line in place.lines:
            loads(line)

    return _timed(loop)


def accept(place: Place) -> float:
    """The engine in use over every line: is the record one that earns no finding?"""
    from orjson import loads

    from ontoref.vocabulary.engine import compile_schema

    accepts = compile_schema(load().strict, often=True).accepts

    def loop() -> None:
        for line in place.lines:
            assert accepts(loads(line))

    return _timed(loop)


def corvus_objects(place: Place) -> float:
    from corvus_json_schema_rs import compile as compiled
    from orjson import loads

    accepts = compiled(dict(load().strict), assert_format=True).is_valid

    def loop() -> None:
        for line in place.lines:
            assert accepts(loads(line))

    return _timed(loop)


def corvus_bytes(place: Place) -> float:
    from corvus_json_schema_rs import compile as compiled

    accepts = compiled(dict(load().strict), assert_format=True).is_valid_json

    def loop() -> None:
        for line in place.lines:
            assert accepts(line)

    return _timed(loop)


def corvus_with_keys(place: Place) -> float:
    """Raw bytes do not free it from parsing: keys that stand twice and ids must be seen too."""
    from corvus_json_schema_rs import compile as compiled
    from orjson import dumps, loads

    accepts = compiled(dict(load().strict), assert_format=True).is_valid_json

    def loop() -> None:
        for line in place.lines:
            assert accepts(line)
            assert dumps(loads(line)) == line

    return _timed(loop)


def structs(place: Place) -> float:
    """msgspec with types made from the schema: no patterns and no dates, so not the same answer."""
    import msgspec

    schema: Any = load().strict
    made: dict[str, Any] = {}

    def kind(shape: Any) -> Any:
        if "$ref" in shape:
            name = shape["$ref"].rpartition("/")[2]
            if name not in made:
                made[name] = kind({**schema["$defs"][name], "title": name})
            return made[name]
        if "enum" in shape:
            from typing import Literal

            return Literal[tuple(shape["enum"])]
        if shape["type"] == "array":
            return list[kind(shape["items"])]  # type: ignore[misc]
        if shape["type"] == "object":
            required = shape.get("required", ())
            fields = [
                (name, kind(inner)) if name in required else (name, kind(inner), None)
                for name, inner in shape["properties"].items()
            ]
            return msgspec.defstruct(shape["title"], fields, kw_only=True, forbid_unknown_fields=True)
        return {"string": str, "boolean": bool, "integer": int}[shape["type"]]

    decode = msgspec.json.Decoder(kind({"$ref": schema["$ref"]})).decode

    def loop() -> None:
        for line in place.lines:
            decode(line)

    return _timed(loop)


def check(place: Place) -> float:
    """Everything that validate checks, in this process, from the file on."""
    from ontoref.interaction.check import Checker
    from ontoref.interaction.validate import Input, validate

    checker = Checker(load(), often=True)
    inputs = [Input("log", str(place.log))]
    return _timed(lambda: list(validate(inputs, checker)))


_PARSE = (
    "import sys, orjson\n"
    "loads = orjson.loads\n"
    "with open(sys.argv[1], 'rb') as file:\n"
    "    for line in file:\n"
    "        loads(line)\n"
)


def parse_whole(place: Place) -> float:
    return command([place.python, "-c", _PARSE, str(place.log)])


def _validate(place: Place, path: str, *words: str, codes: tuple[int, ...] = (0,)) -> float:
    given = [place.python, "-m", "ontoref", "interaction", "validate", path, "--output", str(place.folder / "found")]
    return command([*given, *words], codes=codes)


def validate_all_cores(place: Place) -> float:
    return _validate(place, str(place.log))


def validate_one(place: Place) -> float:
    return _validate(place, str(place.log), "--jobs", "1")


def validate_broken(place: Place) -> float:
    return _validate(place, str(place.broken), codes=(1,))


def many_files(place: Place) -> float:
    """A file for each record, less what opening and reading them takes by itself."""
    import os

    folder = place.folder / "many"
    if not folder.exists():
        write(folder, _FILES, load(), files=_FILES)

    def read() -> None:
        for path, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(path, name), "rb", buffering=0) as file:
                    file.read()

    return _validate(place, str(folder), "--jobs", "1") - _timed(read)


def few_records(place: Place) -> float:
    """The same records in one file."""
    path = place.folder / "few.jsonl"
    if not path.exists():
        write(path, _FILES, load())
    return _validate(place, str(path), "--jobs", "1")


CONTENDERS: dict[str, Contender] = {
    "orjson loop": parse,
    "accept": accept,
    "corvus objects": corvus_objects,
    "corvus bytes": corvus_bytes,
    "corvus bytes, keys": corvus_with_keys,
    "msgspec structs": structs,
    "check": check,
    "orjson loop, whole": parse_whole,
    "validate": validate_all_cores,
    "validate --jobs 1": validate_one,
    "validate, 1 % bad": validate_broken,
    "validate, a file a record": many_files,
    "the same in one file": few_records,
}

ROWS = [
    Row("the accepting loop, one process", "accept", "orjson loop", 2.0, 1.0),
    Row("everything checked, one process", "check", "orjson loop", 2.8, 1.5),
    Row("validate, all cores, whole", "validate", "orjson loop, whole", 1.6, 0.8),
    Row("validate, 1 % bad lines", "validate, 1 % bad", "validate", 1.5, 1.2),
    Row(
        "validate of a file a record, less opening them", "validate, a file a record", "the same in one file", 2.0, 2.0
    ),
    Row("validate --jobs 1, whole", "validate --jobs 1", "orjson loop, whole"),
]

_ENGINES = {
    "jsonschema_rs": [Row("jsonschema-rs over objects", "accept", "orjson loop")],
    "corvus_json_schema_rs": [
        Row("corvus over objects", "corvus objects", "orjson loop"),
        Row("corvus over bytes", "corvus bytes", "orjson loop"),
        Row("corvus over bytes, and a parse for keys", "corvus bytes, keys", "orjson loop"),
    ],
    "msgspec": [Row("msgspec structs, no patterns", "msgspec structs", "orjson loop")],
}


def engines() -> list[Row]:
    """The engines that were weighed (docs/adr/0020), as far as they are installed here."""
    return [row for module, rows in _ENGINES.items() if find_spec(module) for row in rows]
