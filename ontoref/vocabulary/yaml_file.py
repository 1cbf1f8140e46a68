"""One YAML 1.2 file as plain JSON values, with the line on which each of them stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ontoref.vocabulary.model import VocabularyError

__all__ = ["YamlFile", "parse"]

# A YAML parser in Python reads about 20 KB a second; ours are a dozen KB each.
_LARGEST_BYTES = 1 << 18
_DEEPEST = 64
# Beyond it a number is another one in some JSON readers.
_LARGEST_INTEGER = (1 << 53) - 1
_MEND = "mend the line, or restore the file from version control"


@dataclass(frozen=True, slots=True)
class YamlFile:
    """Shape: value holds dicts, lists, str, int, float, bool, None; lines maps JSON pointers to 1-based lines."""

    name: str
    value: Any
    lines: dict[str, int]


def parse(name: str, path: str, content: bytes) -> YamlFile:
    """Parse one file.

    Errors: VocabularyError, with the line, for what is no YAML, a duplicate key, an alias, a second document
            or a value that JSON does not know (a date, NaN).
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(content) > _LARGEST_BYTES:
        raise VocabularyError(path, None, f"the file is larger than {_LARGEST_BYTES >> 10} KiB")
    try:
        text = content.decode("utf-8-sig")
        _refuse_what_is_not_json(path, YAML(typ="rt", pure=True).parse(text))
        tree = YAML(typ="rt", pure=True).load(text)
        lines: dict[str, int] = {}
        return YamlFile(name, _plain(tree, "", path, 1, lines), lines)
    except UnicodeDecodeError as error:
        raise VocabularyError(path, content[: error.start].count(b"\n") + 1, "the file is not UTF-8") from None
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        problem = str(error.problem).split(" with value")[0]
        raise VocabularyError(path, line, f"{problem}; a key may stand once", hint="remove one of the two") from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise VocabularyError(
            path, line, f"the file is not YAML: {error.problem or error.context}", hint=_MEND
        ) from None
    except YAMLError as error:
        raise VocabularyError(path, None, f"the file is not YAML: {str(error).splitlines()[0]}", hint=_MEND) from None
    except RecursionError:
        raise VocabularyError(path, None, "the file is nested too deeply") from None


def _refuse_what_is_not_json(path: str, events: Iterable[Any]) -> None:
    """Errors: VocabularyError for what YAML has beyond JSON, before anything is built from it."""
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, DocumentStartEvent

    depth = 0
    for event in events:
        line = event.start_mark.line + 1
        # An alias can make a small file huge once it is walked, and no schema needs one.
        if isinstance(event, AliasEvent):
            raise VocabularyError(path, line, "aliases are not allowed in a vocabulary", hint="write it out")
        if getattr(event, "tag", None) is not None:
            raise VocabularyError(
                path, line, f"the tag {event.tag} is not allowed in a vocabulary", hint="leave it out"
            )
        if isinstance(event, DocumentStartEvent) and event.version not in (None, (1, 2)):
            raise VocabularyError(path, line, "a vocabulary is YAML 1.2", hint="remove the %YAML line")
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _DEEPEST:
            raise VocabularyError(
                path, line, f"the file is nested deeper than {_DEEPEST} levels", hint="give parts a name under $defs"
            )


def _plain(node: Any, pointer: str, path: str, line: int, lines: dict[str, int]) -> Any:
    """Copy a ruamel node into plain values, noting lines on the way."""
    lines[pointer] = line
    if isinstance(node, dict):
        place = getattr(node, "lc", None)
        result = {}
        if getattr(node, "merge", None):
            raise VocabularyError(path, line, "merge keys are not allowed in a vocabulary", hint="write it out")
        for key, value in node.items():
            key_line = place.key(key)[0] + 1 if place is not None and place.data else line
            if not isinstance(key, str):
                raise VocabularyError(path, key_line, f"the key {key!r} is no text", hint="put it in quotes")
            # str() drops ruamel's own scalar types, which other libraries do not know.
            step = str(key).replace("~", "~0").replace("/", "~1")
            result[str(key)] = _plain(value, f"{pointer}/{step}", path, key_line, lines)
        return result
    if isinstance(node, list):
        place = getattr(node, "lc", None)
        return [
            _plain(
                value,
                f"{pointer}/{index}",
                path,
                place.item(index)[0] + 1 if place is not None and place.data else line,
                lines,
            )
            for index, value in enumerate(node)
        ]
    if node is None or isinstance(node, bool):
        return node
    if isinstance(node, str):
        if not node.isascii() and any("\ud800" <= character <= "\udfff" for character in node):
            raise VocabularyError(path, line, "half a surrogate pair is no text")
        return str(node)
    if isinstance(node, int) and abs(node) <= _LARGEST_INTEGER:
        return int(node)
    if isinstance(node, float) and node == node and abs(node) != float("inf"):
        return float(node)
    raise VocabularyError(path, line, f"{node!s} is not a JSON value", hint="put it in quotes if it is a word")
