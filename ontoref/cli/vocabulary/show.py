"""`ontoref vocabulary show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.cli.complete import names
from ontoref.cli.output import Format, emit, emit_json

if TYPE_CHECKING:
    from ontoref.vocabulary import Facet


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An enum or a shape: Kind, Decision.", autocompletion=names)
    ],
    form: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.table,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Show the members of an enum, or the fields of a shape, each with what it means.

    \b
    Example:
      ontoref vocabulary show Kind
      ontoref vocabulary show Decision
    """
    from ontoref.cli.vocabulary.shared import UnknownName, definitions, in_force
    from ontoref.interaction.finding import nearest
    from ontoref.text import printable

    known = definitions(in_force(schemas))
    found = known.get(name)
    if found is None:
        near = nearest(name, list(known))
        meant = f'did you mean "{near}"?  ' if near else ""
        raise UnknownName(f'the vocabulary defines no "{name}"', hint=f"{meant}one of: {' '.join(known)}")
    if found.members:
        rows: list[dict[str, Any]] = [
            {"member": m.name, "description": m.description, "deprecated": m.deprecated, "replaced_by": m.replaced_by}
            for m in found.members
        ]
        columns: tuple[str, ...] = ("member", "description")
    else:
        rows = [_field(facet) for facet in found.fields]
        columns = ("field", "type", "required", "description")
    if form is Format.json:
        emit_json(
            {"name": found.name, "document": found.document, "line": found.line}
            | {"description": found.description}
            | {"members" if found.members else "fields": rows}
        )
        return 0
    if form is not Format.table:
        emit(rows, form, columns=columns)
        return 0
    print(printable(f"{found.name}  ({found.document}:{found.line})  {found.description}"))
    for key in ("type", "format", "pattern", "minLength", "maxLength"):
        if not rows and key in found.shape:
            print(printable(f"  {key:<10}  {found.shape[key]}"))
    first = max((len(str(row[columns[0]])) for row in rows), default=0)
    second = max((len(str(row.get("type", ""))) for row in rows), default=0)
    for row in rows:
        middle = "" if found.members else f"  {row['type']:<{second}}  {'required' if row['required'] else '':<8}"
        gone = (
            f"  (deprecated{', write ' + row['replaced_by'] if row.get('replaced_by') else ''})"
            if row.get("deprecated")
            else ""
        )
        print(printable(f"  {row[columns[0]]:<{first}}{middle}  {row['description']}{gone}".rstrip()))
    return 0


def _field(facet: Facet) -> dict[str, Any]:
    kind = (
        facet.enum or facet.noun or ("prose" if facet.prose else "label" if facet.label else facet.format or facet.type)
    )
    return {
        "field": facet.path,
        "type": f"{kind}[]" if facet.many else kind,
        "required": facet.required,
        "open": facet.open,
        "description": facet.description,
    }
