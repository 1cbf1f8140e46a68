"""What is wrong with a project: its log, its words, its hooks, its upgrades. Reads only."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ontoref.errors import OntorefError
from ontoref.interaction.adoption import git_hook
from ontoref.interaction.adoption.migrate import migrations, status
from ontoref.interaction.logs import log_paths
from ontoref.interaction.project import Project
from ontoref.state.doctor.finding import Finding, Severity
from ontoref.vocabulary.compile import compile_files
from ontoref.vocabulary.load import read_files, schemas_folder

__all__ = ["examine_project"]


def examine_project(project: Project) -> list[Finding]:
    """Every fault of a project; none where no project was set up."""
    if not project.exists:
        return []
    return [*_config(project), *_words(project), *_torn(project), *_hook(project), *_upgrades(project)]


def _config(project: Project) -> Iterator[Finding]:
    try:
        _ = project.settings
    except OntorefError as error:
        place = error.location or project.root
        yield Finding("config", Severity.error, place, error.message, error.hint or "mend the file")


def _words(project: Project) -> Iterator[Finding]:
    folder = schemas_folder(project=project.root)
    try:
        # Compiled anew and not kept: a doctor writes no cache either.
        compile_files(folder, read_files(folder))
    except OntorefError as error:
        yield Finding(
            "vocabulary",
            Severity.error,
            error.location or folder,
            error.message,
            error.hint or "ontoref vocabulary check",
        )


def _torn(project: Project) -> Iterator[Finding]:
    try:
        folder = project.log_folder(project.settings)
        paths = log_paths([folder]) if os.path.isdir(folder) else []
    except OntorefError:
        return
    for path in paths:
        if os.path.exists(path) and not os.path.isfile(path):
            # A pipe has no end that could be looked at.
            continue
        try:
            with open(path, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                if not size:
                    continue
                file.seek(size - 1)
                ended = file.read(1) == b"\n"
        except OSError as error:
            yield Finding("log", Severity.error, path, error.strerror or str(error), "make it readable")
            continue
        if not ended:
            yield Finding(
                "torn-tail",
                Severity.warning,
                path,
                "its last line has no end: a writer died, or an editor cut it",
                "ontoref interaction validate shows it; the next record begins on a line of its own",
            )


def _hook(project: Project) -> Iterator[Finding]:
    if project.place is None:
        return
    try:
        place = git_hook.find(project.root)
    except OntorefError:
        return
    if place.state != "installed":
        yield Finding(
            "hook",
            Severity.note,
            place.path,
            f"the pre-commit hook that checks records is {place.state}",
            "ontoref hook install",
        )


def _upgrades(project: Project) -> Iterator[Finding]:
    try:
        waiting = [entry for entry in status(project.root, migrations()) if entry.state != "applied"]
    except OntorefError as error:
        yield Finding(
            "migration", Severity.warning, project.root, error.message, error.hint or "ontoref migrate status"
        )
        return
    for entry in waiting:
        yield Finding(
            "migration",
            Severity.note,
            project.root,
            f"the upgrade {entry.migration.id} is {entry.state}: {entry.migration.title}",
            "ontoref migrate apply",
        )
