"""The command line for the tests of lessons: in a process of its own, or in this one, which is faster."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from ontoref.cli.main import run
from tests.conftest import Result

__all__ = ["InProcess", "Lessons"]


class InProcess:
    """Runs the app as `main` would, with its own folder, environment and streams."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, stdin: str = "", env: Mapping[str, str] | None = None) -> Result:
        streams = [io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")]
        streams += [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with (
                mock.patch.dict(os.environ, env or {}),
                mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
            ):
                code = run(words)
        finally:
            os.chdir(before)
        out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])  # type: ignore[attr-defined]
        return Result(code, out, err)


class Lessons:
    """The command line with a state of its own."""

    def __init__(self, app: Callable[..., Result], folder: Path) -> None:
        self.app = app
        self.env = {"ONTOREF_STATE_DIR": str(folder), "USER": "ana"}

    def __call__(self, *words: str, code: int = 0, **more: Any) -> Result:
        done = self.app(*words, env={**self.env, **more.pop("env", {})}, **more)
        assert done.code == code, (words, done)
        return done

    def json(self, *words: str, **more: Any) -> Any:
        return json.loads(self(*words, "--format", "json", **more).out)
