"""`ontoref migrate apply`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.adoption import PlanFormat, carry_out, project_folder


def apply(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change and write nothing.")] = False,
    form: Annotated[PlanFormat, typer.Option("--format", help="How to print the changes.")] = PlanFormat.text,
) -> int:
    """Bring the project's shipped files up to date, in the order of the migrations.

    A file that you changed is merged with what has shipped since; where both changed the same lines yours stays
    and both texts lie beside it. Running it twice changes nothing more.

    \b
    Example:
      ontoref migrate apply --dry-run
      ontoref migrate apply
    """
    from ontoref.interaction.adoption.migrate import migrations, plan

    root, now = project_folder()
    return carry_out(root, plan(root, migrations(), now), form, dry_run=dry_run)
