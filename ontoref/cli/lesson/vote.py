"""`ontoref lesson vote`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ontoref.cli.lesson._options import By, Reason


class Vote(StrEnum):
    """What a lesson was."""

    helpful = "helpful"
    harmful = "harmful"
    neutral = "neutral"


def vote(
    id: Annotated[str, typer.Argument(help="The lesson's id, or its beginning.")],
    what: Annotated[Vote, typer.Argument(help="What it was.")],
    by: By = None,
    reason: Reason = None,
) -> None:
    """Say whether a lesson helped. One harmful vote outweighs four helpful ones.

    \b
    Example:
      ontoref lesson vote l-3f0c harmful --reason "the linter wants spaces"
    """
    from ontoref.cli.lesson.shared import named, now, opened, reviewer
    from ontoref.lesson.review import vote as voted

    with opened(read_only=False) as store:
        lesson = voted(store, named(store, id, "lesson"), what.value, reviewer(by), now(), reason)
    print(f"{lesson['id']}  +{lesson['helpful']} -{lesson['harmful']} ={lesson['neutral']}")
