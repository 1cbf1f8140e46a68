"""Options that several commands over lessons share."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format

Scope = Annotated[
    list[str] | None,
    typer.Option("--scope", help="Only this scope: agent_id=NAME,workspace=PATH,domain=NAME.", metavar="KEY=VALUE,…"),
]
Kind = Annotated[str | None, typer.Option("--kind", help="lesson or skill.")]
Form = Annotated[Format, typer.Option("--format", help="How to print.")]
By = Annotated[str | None, typer.Option("--by", help="Who decides; default: you, or the agent that runs this.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, for the audit trail.")]
