"""A project: its top folder, its settings, and where its records lie."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ontoref import git
from ontoref.errors import OntorefError

__all__ = [
    "FOLDER",
    "ConfigError",
    "NoProject",
    "Project",
    "Settings",
    "find_project",
    "nearest_project",
    "own_project",
    "settings_of",
]

FOLDER = ".ontoref"


class ConfigError(OntorefError):
    """The project's config.yaml cannot be used."""

    kind = "config"


class NoProject(OntorefError):
    """There is no place for a project here."""

    kind = "no-project"


class Settings(NamedTuple):
    """What config.yaml may say.

    Shape: log is a path, absolute or relative to the project's top; lessons a place inside the project; capture is
           off or capture.
    """

    actor: str | None = None
    log: str | None = None
    redact: bool = False
    sign: bool = False
    key: str | None = None
    lessons: str | None = None
    capture: str | None = None


class Project(NamedTuple):
    """Shape: root is absolute; place is the repository around it, None outside git; exists tells whether
    `.ontoref` is there."""

    root: str
    place: git.Place | None
    exists: bool

    @property
    def settings(self) -> Settings:
        """The project's settings; the defaults where there is no file. Errors: ConfigError with the line."""
        return settings_of(os.path.join(self.root, FOLDER, "config.yaml"))

    def log_folder(self, settings: Settings) -> str:
        """Absolute path of the folder that holds the records. It may not exist."""
        if settings.log is None:
            return os.path.join(self.root, FOLDER, "interactions")
        return os.path.normpath(os.path.join(self.root, os.path.expanduser(settings.log)))


def find_project(folder: str) -> Project:
    """The project around a folder: the nearest `.ontoref` upward, not past the top of the git work tree.

    Where there is none it would be made at that top; outside git in the folder itself.
    """
    folder = os.path.realpath(folder)
    place = git.locate(folder)
    top = os.path.realpath(place.top) if place else None
    current = folder
    while True:
        if os.path.isdir(os.path.join(current, FOLDER)):
            return Project(current, place, True)
        parent = os.path.dirname(current)
        if current == top or parent == current:
            return Project(top or folder, place, False)
        current = parent


def own_project(folder: str) -> Project:
    """As `find_project`, for those who write into it. Errors: NoProject within a folder of git's own."""
    project = find_project(folder)
    ours = git.git_folder(folder) if project.place is None else None
    if ours is not None:
        raise NoProject(
            "this is a folder of git's own (a bare repository, or .git), and records lie beside the code",
            hint="go to a work tree: cd to where the code is checked out, or git worktree add",
            location=ours,
        )
    return project


def nearest_project(folder: str) -> Project:
    """As `find_project`, for those who only read: no git process is started, and place is None."""
    folder = os.path.realpath(folder)
    current = folder
    while True:
        if os.path.isdir(os.path.join(current, FOLDER)):
            return Project(current, None, True)
        parent = os.path.dirname(current)
        if os.path.exists(os.path.join(current, ".git")) or parent == current:
            return Project(current if parent != current else folder, None, False)
        current = parent


def settings_of(path: str) -> Settings:
    """The settings of a file; the defaults where there is no file. Errors: ConfigError with the line."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return Settings()
    # A file of comments alone, as `init` writes it, need not cost a YAML parser.
    if all(not line.strip() or line.lstrip().startswith(b"#") for line in content.splitlines()):
        return Settings()
    return _settings(path, content)


def _settings(path: str, content: bytes) -> Settings:
    from ontoref.vocabulary.yaml_file import parse

    file = parse("config.yaml", path, content)
    value: Any = file.value
    if not isinstance(value, dict):
        raise ConfigError("the settings are no mapping", location=f"{path}:1", hint="actor: Human")
    known = Settings._field_defaults
    for name, given in value.items():
        location = f"{path}:{file.lines[f'/{name}']}"
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 1)
            meant = f'did you mean "{near[0]}"?  ' if near else ""
            raise ConfigError(
                f'there is no setting "{name}"', location=location, hint=f"{meant}one of: {' '.join(known)}"
            )
        wanted = bool if isinstance(known[name], bool) else str
        if not isinstance(given, wanted):
            words = "true or false" if wanted is bool else "text"
            raise ConfigError(f"{name} is {given!r}; it must be {words}", location=location)
    return Settings(**value)
