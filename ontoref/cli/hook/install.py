"""`ontoref hook install`."""

from __future__ import annotations


def install() -> int:
    """Put a check of staged records into the repository's pre-commit hook, after whatever stands there.

    \b
    Example:
      ontoref hook install
    """
    import os

    from ontoref.interaction.adoption import git_hook

    place = git_hook.find(os.getcwd())
    if place.state == "installed":
        print(f"already installed  {place.path}")
        return 0
    git_hook.install(place)
    print(f"installed  {place.path}")
    return 0
