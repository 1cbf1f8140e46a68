"""`ontoref interaction validate`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.interaction.check import Checker
    from ontoref.interaction.finding import Finding
    from ontoref.interaction.history import Base, Blob
    from ontoref.interaction.project import Project
    from ontoref.interaction.validate import Input, Summary

_PROGRESS_FROM_BYTES = 64 << 20


class FindingForm(StrEnum):
    """The forms of findings."""

    text = "text"
    json = "json"
    jsonl = "jsonl"
    github = "github"
    sarif = "sarif"
    junit = "junit"


def validate(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders, globs or -. None: the project's log.", metavar="PATH..."),
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="What git has staged, not what lies in the work tree.")
    ] = False,
    since: Annotated[str | None, typer.Option(help="Only lines that this revision lacks.", metavar="REV")] = None,
    append_only: Annotated[
        str | None, typer.Option(help="Also: every record of this revision is still there, unchanged.", metavar="BASE")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail too.")] = False,
    max_findings: Annotated[int | None, typer.Option(min=0, help="Print at most so many.", metavar="N")] = None,
    form: Annotated[FindingForm, typer.Option("--format", help="How to print findings.")] = FindingForm.text,
    output: Annotated[str | None, typer.Option(help="Write findings to a file.", metavar="FILE")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes to use; default: all cores.", metavar="N")] = None,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Check records: every line of every file, and the log as a whole. Exit 1 if something is wrong.

    A bad line never hides the next one, and prose is never judged. Without records there is nothing to check:
    exit 0.

    \b
    Example:
      ontoref interaction validate
      ontoref interaction validate --staged
      ontoref interaction validate --append-only origin/main --format github
    """
    import os
    import tempfile
    import time

    from ontoref.cli.output import note
    from ontoref.errors import UsageError
    from ontoref.interaction.check import Checker
    from ontoref.interaction.parallel import usable_cores
    from ontoref.interaction.project import find_project
    from ontoref.interaction.validate import Summary
    from ontoref.vocabulary import load

    started = time.perf_counter()
    if staged and paths:
        raise UsageError("--staged names the files itself", hint="leave out the paths, or --staged")
    project = find_project(os.getcwd())
    checker = Checker(load(schemas, project.root), often=True)
    with tempfile.TemporaryDirectory(prefix="ontoref-") as aside:
        blobs = _staged(project) if staged else None
        inputs = _spooled(blobs, aside) if blobs is not None else _inputs(paths, project, aside)
        summary = Summary([item.label for item in inputs])
        known = _known(inputs, project, blobs, aside)
        findings = _findings(
            inputs, checker, project, since, append_only, blobs, known, summary, jobs or usable_cores()
        )
        shown = _at_most(findings, max_findings)
        _print(shown, form, summary, output)
    elapsed_ms = (time.perf_counter() - started) * 1000
    _say(summary, max_findings, elapsed_ms, output)
    for item in inputs if paths else ():
        if item.label in summary.paths_with_findings and _is_laid_out(item.path):
            note(f"{item.label} holds one JSON value over many lines, and a log has a record on each line")
            note(f"    ontoref interaction record {item.label} takes it as it is")
    return 1 if summary.errors or (strict and summary.warnings) else 0


def _inputs(paths: list[str] | None, project: Project, aside: str) -> list[Input]:
    """The files meant, as they are named on the command line."""
    import os

    from ontoref.cli.output import short_path
    from ontoref.interaction.logs import log_paths
    from ontoref.interaction.validate import Input

    if not paths:
        folder = project.log_folder(project.settings)
        if not os.path.isdir(folder):
            return []
        found = log_paths([folder])
        return [Input(short_path(path), path) for path in found]
    given = []
    for number, path in enumerate(paths):
        # What can be read only once, such as `<(zcat old.gz)`, is put aside first.
        if path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
            import shutil

            spooled = os.path.join(aside, f"stream-{number}")
            with open(spooled, "wb") as file, open(0 if path == "-" else path, "rb", closefd=path != "-") as source:
                shutil.copyfileobj(source, file)
            given.append(Input(path, spooled))
        else:
            given += [Input(found, found) for found in log_paths([path])]
    return list(dict.fromkeys(given))


def _staged(project: Project) -> list[Blob]:
    from ontoref.interaction import history

    top, log = in_git(project)
    return history.staged(top, log)


def in_git(project: Project) -> tuple[str, str]:
    """The top of the work tree and the log's folder below it. Errors: UsageError where git cannot know the log."""
    import os

    from ontoref.errors import UsageError

    folder = project.log_folder(project.settings)
    if project.place is None:
        raise UsageError("this needs a git work tree", location=project.root)
    top = os.path.realpath(project.place.top)
    log = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    if log.startswith(".."):
        raise UsageError("the log lies outside the repository, so git does not know it", location=folder)
    return top, log


def _known(inputs: list[Input], project: Project, blobs: list[Blob] | None, aside: str) -> list[Input]:
    """Files whose records those that are judged may name: the rest of the index, or the log that they lie in."""
    import os

    from ontoref.cli.output import short_path
    from ontoref.interaction import history
    from ontoref.interaction.validate import Input

    if blobs is None:
        log = project.log_folder(project.settings)
        return [Input(short_path(path), path) for path in _log_files(log)] if _any_below(inputs, log) else []
    if not blobs:
        return []
    top, log = in_git(project)
    paths, contents = history.unstaged(top, log, {blob.path for blob in blobs})
    return [Input(path, os.path.join(top, path)) for path in paths] + _spooled(contents, aside, "known-")


def _spooled(blobs: list[Blob], aside: str, prefix: str = "") -> list[Input]:
    """Contents of the index as files that can be read in blocks."""
    import os

    from ontoref.interaction.validate import Input

    inputs = []
    for number, blob in enumerate(blobs):
        path = os.path.join(aside, f"{prefix}{number}")
        with open(path, "wb") as file:
            file.write(blob.content)
        inputs.append(Input(blob.path, path))
    return inputs


def _findings(
    inputs: list[Input],
    checker: Checker,
    project: Project,
    since: str | None,
    append_only: str | None,
    blobs: list[Blob] | None,
    known: list[Input],
    summary: Summary,
    jobs: int,
) -> Iterator[Finding]:

    from ontoref.interaction import history
    from ontoref.interaction.validate import validate as run

    bases: dict[str, Base] = {}

    def base_of(revision: str) -> Base:
        top, log = in_git(project)
        commit = history.merge_base(top, revision)
        if commit not in bases:
            bases[commit] = history.read_base(top, log, commit, checker)
        return bases[commit]

    since_base = base_of(since) if since is not None else None
    append_base = base_of(append_only) if append_only is not None else None
    skip = None if since_base is None else lambda line: history.line_is_in(since_base, line)
    log = project.log_folder(project.settings)
    with _Progress(inputs, jobs) as update:
        yield from run(
            inputs,
            checker,
            jobs=jobs,
            known=known,
            known_too=blobs is not None,
            skip=skip,
            progress=update,
            summary=summary,
        )
    if append_base is not None:
        top, below = in_git(project)
        # A file that is not staged anew stands in the index as HEAD has it.
        there = history.index(top, below) if blobs is not None else history.work_tree(top, _log_files(log))
        for finding in history.compare(append_base, there, checker.vocabulary):
            summary.count(finding)
            yield finding


def _log_files(folder: str) -> list[str]:
    import os

    from ontoref.interaction.logs import log_paths

    return log_paths([folder]) if os.path.isdir(folder) else []


def _any_below(inputs: list[Input], folder: str) -> bool:
    import os

    if not os.path.isdir(folder):
        return False
    top = os.path.join(os.path.realpath(folder), "")
    folders = {os.path.dirname(os.path.abspath(item.path)) for item in inputs}
    return any(os.path.join(os.path.realpath(name), "").startswith(top) for name in folders)


def _at_most(findings: Iterable[Finding], limit: int | None) -> Iterator[Finding]:
    """The first findings; the rest are drawn and counted all the same."""
    for number, finding in enumerate(findings):
        if limit is None or number < limit:
            yield finding


def _print(findings: Iterator[Finding], form: FindingForm, summary: Summary, output: str | None) -> None:
    from ontoref.cli.output import write_out
    from ontoref.interaction.formats import FORMATS

    write_out(FORMATS[form.value](findings, summary), output)


def _say(summary: Summary, limit: int | None, elapsed_ms: float, output: str | None) -> None:
    from ontoref.cli.output import note

    found = summary.errors + summary.warnings
    read = f"{counted(summary.files, 'file')}, {counted(summary.records, 'record')} ({elapsed_ms:.0f} ms)"
    if not found:
        note(f"no findings in {read}")
    else:
        findings = _told(summary)
        hidden = f"; {limit:,} shown" if limit is not None and limit < found else ""
        found_in = len(summary.paths_with_findings)
        # A file that is gone has findings too, without being among those that were read.
        note(
            f"{findings} in {found_in:,} of {read}{hidden}"
            if found_in <= summary.files
            else f"{findings}; {read}{hidden}"
        )
    if output is not None:
        note(f"written to {output}")


def _is_laid_out(path: str) -> bool:
    """Whether a file begins as JSON does that was laid out for people."""
    try:
        with open(path, "rb") as file:
            return file.readline(64).strip() in (b"{", b"[")
    except OSError:  # stdin's copy is gone by now
        return False


def _told(summary: Summary) -> str:
    """Findings and how many of them only warn: `3 findings (1 warning)`, `1 warning`."""
    found, warned = summary.errors + summary.warnings, summary.warnings
    warnings = counted(warned, "warning")
    if warned == found:
        return warnings
    return counted(found, "finding") + (f" ({warnings})" if warned else "")


class _Progress:
    """A bar on a terminal for a long run, nothing elsewhere. Shape: entering gives what is told of bytes read."""

    def __init__(self, inputs: list[Input], jobs: int) -> None:
        import os

        self.bar: Any = None
        total = 0
        for item in inputs if sys.stderr.isatty() else ():
            with suppress(OSError):
                total += os.path.getsize(item.path)
        if total >= _PROGRESS_FROM_BYTES:
            import click

            # One share is read here and seen; the others go on beside it at the same pace.
            self.bar = click.progressbar(length=total // jobs, label="checking", file=sys.stderr)

    def __enter__(self) -> Callable[[int], None] | None:
        if self.bar is None:
            return None
        update: Callable[[int], None] = self.bar.__enter__().update
        return update

    def __exit__(self, *reason: object) -> None:
        if self.bar is not None:
            self.bar.__exit__(*reason)
