"""The rules that a log is checked by. Their ids are a contract: they stand in every format."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ERROR", "LONGEST_LINE_BYTES", "RULES", "WARNING", "Rule"]

ERROR, WARNING = "error", "warning"
# A longer line is no record; it is passed over without being held in memory.
LONGEST_LINE_BYTES = 32 << 20


class Rule(NamedTuple):
    """Shape: severity is `error` or `warning`; description is a sentence for people."""

    severity: str
    description: str


RULES: dict[str, Rule] = {
    # The bytes.
    "unreadable": Rule(ERROR, "A file of the log can be read."),
    "encoding": Rule(ERROR, "A log is UTF-8."),
    "bom": Rule(ERROR, "A log does not begin with a byte order mark."),
    "crlf": Rule(WARNING, "Lines end with a newline alone."),
    "blank": Rule(WARNING, "No line is empty."),
    "too-long": Rule(ERROR, "A line has at most 32 MiB."),
    "torn": Rule(ERROR, "A line is a whole JSON text; a writer died within this one."),
    "syntax": Rule(ERROR, "A line is JSON."),
    "too-deep": Rule(ERROR, "JSON is nested at most 500 levels deep."),
    "duplicate-key": Rule(ERROR, "A key stands once in an object."),
    "not-object": Rule(ERROR, "A line is one JSON object."),
    # The shape.
    "schema-version": Rule(ERROR, "The record has a version of the shape that this ontoref reads."),
    "required": Rule(ERROR, "Every required field is there."),
    "unknown-field": Rule(ERROR, "Every field is one that the vocabulary knows."),
    "null": Rule(ERROR, "A field without a value is left out."),
    "type": Rule(ERROR, "A value has its field's type."),
    "enum": Rule(ERROR, "A word is a member of its enum."),
    "pattern": Rule(ERROR, "A text has its field's form."),
    "format": Rule(ERROR, "A moment exists."),
    "length": Rule(ERROR, "A text is as long as its field allows."),
    "shape": Rule(ERROR, "A value keeps every other keyword of its schema."),
    "open-word": Rule(WARNING, "A word of an open enum is one that the vocabulary lists."),
    "deprecated": Rule(WARNING, "No word or field is used that the vocabulary calls deprecated."),
    # What is recorded.
    "placeholder": Rule(ERROR, "What a template left open is filled in, or taken out."),
    "time-order": Rule(WARNING, "A segment ends after it began."),
    # The log.
    "duplicate-id": Rule(ERROR, "A record id stands once in a log."),
    "unknown-record": Rule(ERROR, "A record that another one names is in the log."),
    # The history.
    "changed-record": Rule(ERROR, "A record of the base has not been changed."),
    "removed-record": Rule(ERROR, "A record of the base is still there."),
    "withheld-text": Rule(WARNING, "Only prose of a record of the base has been changed."),
}
