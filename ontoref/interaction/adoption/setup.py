"""What `ontoref init` gives a project: configuration, schemas, line endings, and a word to its agents."""

from __future__ import annotations

import os

from ontoref.interaction.adoption.block import put
from ontoref.interaction.adoption.change import Change, planned, read
from ontoref.interaction.adoption.migrate import migrations
from ontoref.interaction.adoption.migrate import plan as plan_migrations

__all__ = ["AGENTS_BEGIN", "AGENTS_END", "AGENTS_TEXT", "plan"]

AGENTS_BEGIN = "<!-- ontoref:begin (written by `ontoref init`; edit outside these two lines) -->"
AGENTS_END = "<!-- ontoref:end -->"

_CONFIG = """\
# ontoref's settings for this project. Everything here is optional.
#
# actor: Human             # who records, where no option, variable or agent says it
# log: ../private/log      # keep the records elsewhere, say outside a public repository
# redact: true             # replace secrets in prose instead of warning about them
"""

_ATTRIBUTES_BEGIN, _ATTRIBUTES_END = "# ontoref:begin", "# ontoref:end"
_ATTRIBUTES = "/.ontoref/interactions/** text eol=lf merge=union"

_IGNORED = "# Drafts are proposals on one machine; a record is what gets committed.\ndrafts/\n"

AGENTS_TEXT = """\
## Recording what a session decided and did

At the end of a piece of work, record it: one JSON object, one line, in this repository.

1. `ontoref interaction template --minimal` shows the fields and the words they take.
2. Write the record to a file, or give it as options, and run one of

       ontoref interaction record rec.json
       ontoref interaction record --kind Fix --domain Cli --outcome Completed --summary "What was done."

3. A refusal names each field, what was wrong and what is allowed. Mend it and run the command again;
   nothing was written.

Record decisions that somebody will ask about later: `--decision '{"id": "a-name-in-lower-case", "reversible": true,
"adr_candidate": false, "rationale": "Why.", "alternatives_rejected": ["what else"]}'`. Leave out what you do not
know; never invent a field. Earlier decisions: `ontoref interaction decisions`, one of them whole:
`ontoref interaction show ID`.
"""


def plan(root: str, now: str, *, agents_file: str = "AGENTS.md", block: bool = True) -> list[Change]:
    """Changes that set a project up; those of a project that is set up all keep.

    Shape:  an existing config.yaml stays as it is; in .gitattributes and the agents' file only our block changes.
    Errors: BrokenBlock, MigrationError, OSError.
    """
    changes = []
    if read(root, ".ontoref/config.yaml") is None:
        changes.append(planned(root, ".ontoref/config.yaml", _CONFIG.encode(), "settings, all optional"))
    if read(root, ".ontoref/.gitignore") is None:
        changes.append(planned(root, ".ontoref/.gitignore", _IGNORED.encode(), "drafts stay on this machine"))
    attributes = put(
        _text(root, ".gitattributes"), _ATTRIBUTES_BEGIN, _ATTRIBUTES_END, _ATTRIBUTES, path=".gitattributes"
    )
    changes.append(
        planned(
            root, ".gitattributes", attributes.encode(), "the log keeps LF on every system, and both sides of a merge"
        )
    )
    changes += plan_migrations(root, migrations(), now)
    if block:
        text = put(_text(root, agents_file), AGENTS_BEGIN, AGENTS_END, AGENTS_TEXT, path=agents_file)
        changes.append(planned(root, agents_file, text.encode(), "tells agents how to record"))
    return changes


def _text(root: str, path: str) -> str:
    """A file's text with its line ends as they are; undecodable bytes survive the round trip."""
    content = read(root, path.replace(os.sep, "/"))
    return (content or b"").decode("utf-8")
