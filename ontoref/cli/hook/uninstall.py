"""`ontoref hook uninstall`."""

from __future__ import annotations


def uninstall() -> int:
    """Take our part out of the repository's pre-commit hook and leave the rest as it is.

    \b
    Example:
      ontoref hook uninstall
    """
    import os

    from ontoref.interaction.adoption import git_hook

    place = git_hook.find(os.getcwd())
    if place.state in ("absent", "foreign"):
        print(f"not installed  {place.path}")
        return 0
    git_hook.uninstall(place)
    print(f"removed  {place.path}")
    return 0
