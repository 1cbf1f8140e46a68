"""Puts the compiled form of our own vocabulary into the wheel, so that no start parses YAML."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledVocabulary(BuildHookInterface):  # type: ignore[type-arg]
    """Run by hatchling for every wheel, also for one of an sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        try:
            from ontoref.vocabulary.compiled import compiled_forms
        finally:
            sys.path.pop(0)
        self._folder = tempfile.TemporaryDirectory()
        for name, content in compiled_forms(os.path.join(self.root, "schemas")).items():
            path = os.path.join(self._folder.name, name)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file, ensure_ascii=False, separators=(",", ":"))
            build_data["force_include"][path] = f"ontoref/_data/schemas/compiled/{name}"
