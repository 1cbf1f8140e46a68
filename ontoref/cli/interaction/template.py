"""`ontoref interaction template`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.complete import words_of


def template(
    minimal: Annotated[bool, typer.Option("--minimal", help="Only what has to be there.")] = False,
    actor: Annotated[
        str | None, typer.Option(help="Fill in who did it.", metavar="ACTOR", autocompletion=words_of("actor"))
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="Fill in what sort of work it was.", metavar="KIND", autocompletion=words_of("kind")),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(help="Fill in which part of the system.", metavar="DOMAIN", autocompletion=words_of("domain")),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="Fill in how it ended.", metavar="OUTCOME", autocompletion=words_of("outcome"))
    ] = None,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Print a record to fill in: each placeholder names the words that may stand there.

    Replace every <…> and every null (prose), and take out what you have nothing to say about: `record` refuses a
    <…> that is left. What it fills in itself (id, time, session, revision) is not in it.

    \b
    Example:
      ontoref interaction template --minimal > rec.json
    """
    import sys

    import orjson

    from ontoref.cli.vocabulary.shared import in_force
    from ontoref.errors import UsageError
    from ontoref.interaction.finding import nearest
    from ontoref.vocabulary.template import template_of

    vocabulary = in_force(schemas)
    given = {"actor": actor, "kind": kind, "domain": domain, "outcome": outcome}
    facets = vocabulary.noun()
    for name, word in given.items():
        enum = facets[name].enum
        if word is not None and enum is not None and word not in vocabulary.enum(enum):
            near = nearest(word, vocabulary.enum(enum).names)
            meant = f'did you mean "{near}"?  ' if near else ""
            words = " ".join(vocabulary.enum(enum))
            raise UsageError(f'--{name}: "{word}" is not listed in {enum}', hint=f"{meant}one of: {words}")
    filled = template_of(vocabulary, {name: word for name, word in given.items() if word}, minimal=minimal)
    sys.stdout.buffer.write(orjson.dumps(filled, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return 0
