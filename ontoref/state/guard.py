"""Keeps the repository from growing a second place of state: `python -m ontoref.state.guard [FOLDER]`.

Reads the syntax trees, so that comments and docstrings never count, and follows names through constants,
joins, concatenations and f-strings. One line a finding; exit 1 if there is any.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Finding", "check_file", "main"]

# Modules that may speak SQL. Everything else asks them.
STORES = re.compile(
    r"ontoref/state/(database|opening|sessions|events|companions|ledger|leases|registry|runs|cache|snapshot|upkeep)\.py"
    r"|ontoref/lesson/(stores?|backends?)/.*\.py|ontoref/lesson/\w*(sqlite|postgres|store)\w*\.py"
    r"|ontoref/replay/\w*(store|index|duck|export)\w*\.py"
)
# Where tables are made, beside `ontoref/state/sql/`: one module has the DDL of lessons for every dialect, one that of
# the DuckDB export.
SCHEMAS = re.compile(r"ontoref/lesson/backends/schema\.py|ontoref/replay/duckdb_store\.py")
# Readers of foreign formats name foreign files and open foreign databases; they write nothing.
READERS = re.compile(r"ontoref/transcript/.*\.py")
# The writers of JSON lines: the log of interactions with its drafts, the file store of lessons, explicit exports.
JSONL_WRITERS = re.compile(
    r"ontoref/interaction/(log|drafts|spill)\.py|ontoref/lesson/.*(fs|file|jsonl).*\.py|ontoref/cli/.*\.py"
)
DOCTOR = re.compile(r"ontoref/state/doctor/.*\.py")
DATABASES = ("ontoref.sqlite", "ontoref-agent.sqlite")

_LEGACY = re.compile(
    r"(^|/)sessions\.json$|\.trajectory\.jsonl$|\.acp-stream\.jsonl$|acp/event-ledger\.json$|(^|/)cache/[^/]*\.json$"
    r"|\.lock$|(^|/)process-leases\.json$|(^|/)subagents/runs\.json$|(^|/)commands\.log$|(^|/)config-audit\.jsonl$"
    r"|(^|/)config-health\.json$"
)
_SIDECAR = re.compile(r"[\w/.-]\.(sqlite3?|db)$")
# Put together so that this file keeps its own rule.
_MARKERS = ("".join(("transcript", "Locator")), "".join(("sqlite-transcript", "://")))
_FACADES = {"storePath", "sessionFile", "listAll", "forkFromSession", "newSession", "createBranchedSession"}
_SQL = re.compile(
    r"\s*(SELECT\s.+\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s+\w"
    r"|BEGIN IMMEDIATE|VACUUM\b|(CREATE|DROP|ALTER)\s+(TABLE|INDEX|VIRTUAL|VIEW|TRIGGER)\s)",
    re.DOTALL,
)
_CREATE = re.compile(r"\s*CREATE\s+(TABLE|INDEX|UNIQUE INDEX)\b")
_WRITERS = {
    "os.rename",
    "os.replace",
    "os.remove",
    "os.unlink",
    "os.link",
    "shutil.copy",
    "shutil.copy2",
    "shutil.copyfile",
    "shutil.move",
}
_WRITING_METHODS = {"write_text", "write_bytes", "unlink", "rename", "replace", "touch"}

# Known exceptions: "path: rule: source of the call", each good for one place. Stale ones are findings too.
ALLOWED: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that breaks a rule. Units: line is 1-based."""

    path: str
    line: int
    rule: str
    message: str
    source: str = ""

    @property
    def fingerprint(self) -> str:
        return f"{self.path}: {self.rule}: {self.source}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def check_file(path: str, text: str) -> list[Finding]:
    """What a file breaks. path is relative to the repository, with `/`."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return [Finding(path, getattr(error, "lineno", 1) or 1, "syntax", "the file cannot be parsed")]
    return list(_Checker(path, tree).findings())


def main(arguments: list[str]) -> int:
    """Check the package and the tests below a folder."""
    root = arguments[0] if arguments else os.getcwd()
    found = []
    for top in ("ontoref", "tests", "benchmarks", "scripts"):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
            for name in sorted(files):
                if name.endswith(".py"):
                    full = os.path.join(folder, name)
                    with open(full, encoding="utf-8") as file:
                        found += check_file(os.path.relpath(full, root).replace(os.sep, "/"), file.read())
    allowed = Counter(ALLOWED)
    left = []
    for finding in found:
        if allowed[finding.fingerprint]:
            allowed[finding.fingerprint] -= 1
        else:
            left.append(finding)
    for fingerprint in +allowed:
        left.append(Finding(fingerprint.partition(":")[0], 1, "stale-exception", f"nothing needs {fingerprint!r}"))
    for finding in left:
        print(finding)
    return 1 if left else 0


@dataclass(slots=True)
class _Checker:
    path: str
    tree: ast.Module
    constants: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    prose: set[int] = field(default_factory=set)

    def findings(self) -> Iterator[Finding]:
        self._learn()
        is_test = not self.path.startswith("ontoref/")
        reader = READERS.fullmatch(self.path) is not None
        for node in ast.walk(self.tree):
            yield from self._markers(node)
            if isinstance(node, ast.Call) and not reader:
                yield from self._sidecar(node, is_test)
            if is_test or reader:
                continue
            yield from self._names(node)
            if isinstance(node, ast.Call):
                yield from self._writes(node)
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._imports(node)
            yield from self._sql(node)

    def _learn(self) -> None:
        """Docstrings, names of modules, and names that are bound to one string."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    self.aliases[name.asname or name.name.partition(".")[0]] = name.name
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    self.aliases[name.asname or name.name] = f"{node.module}.{name.name}"
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                self.prose.add(id(body[0].value))
        for _ in range(3):
            for node in ast.walk(self.tree):
                if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                    value = self._text(node.value)
                    if value is not None:
                        self.constants[node.targets[0].id] = value

    def _text(self, node: ast.AST) -> str | None:
        """What an expression is as far as it can be known; unknown parts are `\\0`."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) and id(node) not in self.prose else None
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._text(part) or "\0" for part in node.values)
        if isinstance(node, ast.FormattedValue):
            return self._text(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            parts = [self._text(node.left), self._text(node.right)]
            if parts == [None, None]:
                return None
            return ("/" if isinstance(node.op, ast.Div) else "").join(part or "\0" for part in parts)
        if isinstance(node, ast.Call):
            name = self._called(node)
            if name.endswith("path.join") or name.rpartition(".")[2] in ("joinpath", "Path", "PurePath", "with_name"):
                known = [self._text(argument) for argument in node.args]
                return "/".join(part or "\0" for part in known) if any(known) else None
            if name.rpartition(".")[2] in ("str", "fspath") and node.args:
                return self._text(node.args[0])
        return None

    def _called(self, node: ast.Call) -> str:
        """The full name of what is called, aliases resolved: `os.rename`, `?.write_text`."""
        parts: list[str] = []
        target: ast.AST = node.func
        while isinstance(target, ast.Attribute):
            parts.append(target.attr)
            target = target.value
        parts.append(self.aliases.get(target.id, target.id) if isinstance(target, ast.Name) else "?")
        return ".".join(reversed(parts))

    def _finding(self, node: ast.AST, rule: str, message: str) -> Finding:
        return Finding(self.path, getattr(node, "lineno", 1), rule, message, ast.unparse(node))

    def _markers(self, node: ast.AST) -> Iterator[Finding]:
        text = self._text(node) if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) else None
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        name = node.arg if isinstance(node, ast.arg | ast.keyword) and node.arg else name
        for marker in _MARKERS:
            if marker in (text or "") or marker.lower() == name.replace("_", "").lower():
                yield self._finding(
                    node, "retired-locator", "a transcript is named by its agent and session, no locator"
                )

    def _names(self, node: ast.AST) -> Iterator[Finding]:
        if isinstance(node, ast.Attribute) and node.attr in _FACADES:
            yield self._finding(node, "retired-facade", f"{node.attr} belongs to stores of files, which we have not")
        elif isinstance(node, ast.Name | ast.arg):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name in _FACADES:
                yield self._finding(node, "retired-facade", f"{name} belongs to stores of files, which we have not")

    def _writes(self, node: ast.Call) -> Iterator[Finding]:
        if not self._is_write(node):
            return
        texts = [self._text(argument) for argument in (*node.args, *(keyword.value for keyword in node.keywords))]
        if isinstance(node.func, ast.Attribute):
            texts.append(self._text(node.func.value))
        for text in texts:
            if text is None:
                continue
            if _LEGACY.search(text) and not DOCTOR.fullmatch(self.path):
                yield self._finding(node, "legacy-store", f"writes {_shown(text)}, a store of files")
            elif text.endswith(".jsonl") and not JSONL_WRITERS.fullmatch(self.path):
                yield self._finding(node, "jsonl-writer", f"writes {_shown(text)}; two stores alone write JSON lines")

    def _is_write(self, node: ast.Call) -> bool:
        name = self._called(node)
        last = name.rpartition(".")[2]
        if name in _WRITERS:
            return True
        if last in _WRITING_METHODS and "." in name and not name.startswith(("os.", "shutil.")):
            return last != "replace" or len(node.args) == 1
        if name in ("open", "io.open") or (last == "open" and name not in ("os.open", "webbrowser.open")):
            at = 1 if name in ("open", "io.open") else 0
            mode = node.args[at] if len(node.args) > at else None
            for keyword in node.keywords:
                mode = keyword.value if keyword.arg == "mode" else mode
            return isinstance(mode, ast.Constant) and bool(set(str(mode.value)) & set("wax+"))
        return False

    def _sidecar(self, node: ast.Call, is_test: bool) -> Iterator[Finding]:
        name = self._called(node)
        if name != "sqlite3.connect":
            return
        text = self._text(node.args[0]) if node.args else None
        literal = text is not None and "\0" not in text and text != ":memory:" and not is_test
        named = text is not None and _SIDECAR.search(text) and not text.endswith(DATABASES) and not is_test
        if literal or named:
            yield self._finding(node, "sidecar", f"opens {_shown(text or '')}; there are two kinds of databases")
        elif not is_test and not STORES.fullmatch(self.path):
            yield self._finding(node, "connect", "only the store modules open databases")

    def _imports(self, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
        names = [name.name for name in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        if any("doctor.legacy" in name for name in names) and not DOCTOR.fullmatch(self.path):
            yield self._finding(node, "legacy-import", "what reads old stores stays with the doctor")

    def _sql(self, node: ast.AST) -> Iterator[Finding]:
        if not isinstance(node, ast.Constant | ast.JoinedStr):
            return
        text = self._text(node)
        if text is None:
            return
        if _CREATE.match(text) and not SCHEMAS.fullmatch(self.path):
            yield self._finding(node, "create-table", "tables are made in ontoref/state/sql/*.sql alone")
        elif _SQL.match(text) and not STORES.fullmatch(self.path):
            yield self._finding(node, "raw-sql", "SQL stands in the store modules alone")


def _shown(text: str) -> str:
    return repr(text.replace("\0", "…"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
