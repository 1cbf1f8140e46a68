"""`ontoref interaction verify`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ontoref.cli.output import Format, emit, note

if TYPE_CHECKING:
    from ontoref.interaction.check import Checker
    from ontoref.interaction.finding import Finding


def verify(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Logs: files, folders, globs or -. None: the project's own.", metavar="PATH..."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option("--require", help="Records for which this holds must be signed. May be repeated.", metavar="TERM"),
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="Also: every record of this revision is still there.", metavar="REV")
    ] = None,
    in_git: Annotated[bool, typer.Option("--git", help="Also: the tree that was signed for is in git.")] = False,
    only_failing: Annotated[bool, typer.Option("--failing", help="Show only what fails.")] = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the verdicts.")] = Format.table,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Say of each record what its witness proves.

    valid, withheld (valid, but text was withheld), modified, unsigned, unknown-key, revoked-key or malformed.
    Exit 1 if a record was modified or cannot be read, if a required one is not signed, or if one of the base is
    gone. A record without a witness is no fault unless it is required.

    \b
    Example:
      ontoref interaction verify --require actor=AgentClaude
      ontoref interaction verify --base origin/main --git
    """
    import os
    from collections import Counter

    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.interaction.check import Checker
    from ontoref.interaction.keys import Registry
    from ontoref.interaction.project import find_project
    from ontoref.interaction.verify import verify as run
    from ontoref.interaction.where import RECORD, parse_where

    logs, vocabulary = logs_and_words(paths, schemas)
    project = find_project(os.getcwd())
    required = [parse_where(term, RECORD, vocabulary) for term in require or ()]
    tree = _tree_check(project.root) if in_git else None
    counts: Counter[str] = Counter()
    failing = 0
    rows = []
    for found in run(logs, vocabulary, Registry.read(project.root), required=required, tree=tree):
        verdict = found.judgement.verdict.value
        counts[verdict] += 1
        failing += found.fails
        if only_failing and not found.fails:
            continue
        said = [found.judgement.why] if found.judgement.why else []
        said += ["a witness is required here"] if found.missing else []
        said += [*found.judgement.pointers, *found.notes]
        row = {"record": found.record, "session": found.session, "verdict": verdict, "key": found.key}
        rows.append({**row, "required": found.missing, "notes": said, "path": found.path, "line": found.line})
    emit(rows, form, columns=("record", "session", "verdict", "key", "notes"))
    gone = _gone(base, Checker(vocabulary)) if base is not None else []
    for finding in gone:
        from ontoref.interaction.report import as_text

        note(as_text(finding))
    failing += sum(finding.is_error for finding in gone)
    summary = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.most_common()) or "no records"
    note(f"{summary}; {failing:,} {'fails' if failing == 1 else 'fail'}")
    return 1 if failing else 0


def _tree_check(root: str) -> Callable[[str, Sequence[str]], str | None]:
    """What is wrong with a tree that a witness names, asked of git once a tree."""
    import functools

    from ontoref import git

    @functools.cache
    def contents(tree: str) -> frozenset[bytes] | None:
        listed = git.try_run(["ls-tree", "-r", "--name-only", "-z", tree], root)
        return None if listed is None else frozenset(listed.split(b"\0"))

    def problem(tree: str, files: Sequence[str]) -> str | None:
        held = contents(tree)
        if held is None:
            return f"git has no tree {tree[:12]}"
        absent = [name for name in files if name.encode("utf-8", "surrogatepass") not in held]
        return f"the tree {tree[:12]} does not hold {', '.join(absent)}" if absent else None

    return problem


def _gone(revision: str, checker: Checker) -> list[Finding]:
    import os

    from ontoref.cli.interaction.validate import in_git
    from ontoref.interaction import history
    from ontoref.interaction.logs import log_paths
    from ontoref.interaction.project import find_project

    project = find_project(os.getcwd())
    top, log = in_git(project)
    base = history.read_base(top, log, history.merge_base(top, revision), checker)
    folder = project.log_folder(project.settings)
    present = log_paths([folder]) if os.path.isdir(folder) else []
    return list(history.compare(base, history.work_tree(top, present), checker.vocabulary))
