"""Members are spelled in schemas/ and nowhere in Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from ontoref.vocabulary import load
from tests.conftest import ROOT

pytestmark = pytest.mark.checkout

# Names of tools and operations in the formats of other programs, which happen to be spelled like a word of ours.
FOREIGN = ROOT / "ontoref" / "transcript"


def constants(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and value of every string constant; docstrings and the names of Python's own in `__all__` aside."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    exported = {
        id(item)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
        for item in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | exported:
            yield node.lineno, node.value


def test_no_member_of_a_record_is_spelled_in_python() -> None:
    """S4-10, must hold 5: members are read from the files at run time."""
    members = {
        member
        for enum in load(str(ROOT / "schemas")).enums.values()
        if enum.document in ("coder.yaml", "interaction.yaml")
        for member in enum
    }
    assert len(members) > 50
    spelled = [
        f"{path.relative_to(ROOT)}:{line}: {value}"
        for path in sorted((ROOT / "ontoref").rglob("*.py"))
        if not path.is_relative_to(FOREIGN)
        for line, value in constants(ast.parse(path.read_text(encoding="utf-8")))
        if value in members
    ]
    assert spelled == []


def test_readers_spell_only_names_of_foreign_tools() -> None:
    """The exception for readers covers names that a transcript holds, not outcomes, actors or kinds of records."""
    vocabulary = load(str(ROOT / "schemas"))
    ours = {member for name in ("ActorKind", "Kind", "Outcome", "EventKind") for member in vocabulary.enum(name)}
    tools = set(vocabulary.enum("ActionKind"))
    spelled = {
        value
        for path in FOREIGN.rglob("*.py")
        for _, value in constants(ast.parse(path.read_text(encoding="utf-8")))
        if value in ours - tools
    }
    assert spelled == set()
