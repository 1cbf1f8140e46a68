"""What a Codex call names and what its output says: arguments, patches, exit codes, refusals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ontoref.transcript.native import parse, parts
from ontoref.transcript.patch import patched_files
from ontoref.transcript.paths import normal_path

__all__ = ["Output", "arguments_of", "call_files", "output_of"]

_BEGIN = "*** Begin Patch"
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|`((?:[^`\\]|\\.)*)`', re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
# The tool's own head stands before "Output:"; a command may print the same words after it.
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_REFUSED = re.compile(
    r"(?:rejected|denied|declined|not approved) by (?:the )?user|user (?:rejected|denied|declined)", re.I
)


def arguments_of(given: Any) -> Any:
    """Arguments of a call: the object that their JSON text is, or what they were."""
    if not isinstance(given, str):
        return {} if given is None else given
    try:
        found = parse(given.encode("utf-8", "replace"))
    except ValueError:
        return given
    return found if isinstance(found, dict | list) else given


def call_files(name: str, given: Any, cwd: str | None) -> list[dict[str, Any]]:
    """Files that a call names to change, in whichever of the four ways a patch is applied.

    Shape: a patch as free text, in the arguments of apply_patch, in a shell command's here-document, as a
           quoted string of JavaScript. Relative names are taken from the call's workdir, else from cwd.
    """
    if isinstance(given, dict):
        workdir = given.get("workdir", given.get("cwd"))
        if isinstance(workdir, str) and workdir:
            cwd = normal_path(workdir, cwd)
        command = given.get("command", given.get("cmd"))
        texts = [given.get("input"), given.get("patch"), *(command if isinstance(command, list) else [command])]
    else:
        texts = [given]
    found: list[dict[str, Any]] = []
    for text in texts:
        if not isinstance(text, str) or _BEGIN not in text:
            continue
        if name in ("exec", "js", "code", "javascript"):
            found += [entry for literal in _literals(text) for entry in patched_files(literal, cwd)]
        elif name == "apply_patch" or "apply_patch" in text or "applypatch" in text:
            found += patched_files(text, cwd)
    return found


def _literals(code: str) -> list[str]:
    """The string literals of JavaScript that hold a patch, without their escapes."""
    found = []
    for match in _LITERAL.finditer(code):
        text = match.group(match.lastindex or 1)
        if text and _BEGIN in text:
            found.append(_ESCAPE.sub(_unescaped, text))
    return found


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "ux" and len(code) > 1:
        number = int(code.strip("ux{}"), 16)
        return chr(number) if number < 0xD800 or 0xDFFF < number < 0x110000 else "\ufffd"
    return _SIMPLE.get(code, code)


@dataclass(frozen=True, slots=True)
class Output:
    """A call's output. Shape: value is the JSON object that it is, if any; text is what the model read."""

    text: str
    blocks: list[Any]
    exit_code: int | None
    failed: bool
    refused: bool
    value: dict[str, Any] | None


def output_of(given: Any) -> Output:
    """Read an output, a text, an object or a list of content items; there is no error flag."""
    value: dict[str, Any] | None = None
    blocks: list[Any] = []
    code: Any = None
    failed = False
    if isinstance(given, dict):
        value, text = given, ""
    else:
        texts, blocks = parts(given)
        text = "\n".join(texts)
        value = _object(text)
    if value is not None:
        metadata = value.get("metadata")
        code = metadata.get("exit_code") if isinstance(metadata, dict) else value.get("exit_code")
        failed = value.get("success") is False
        inner = value.get("output", value.get("content")) if isinstance(given, dict) else value.get("output")
        if inner is not None and (isinstance(given, dict) or "metadata" in value):
            texts, blocks = parts(inner)
            text = "\n".join(texts)
    else:
        head = text[:1000].partition("\nOutput:")[0]
        match = _EXIT.search(head)
        code = int(match.group(1)) if match else None
    if isinstance(code, bool) or not isinstance(code, int):
        code = None
    return Output(text, blocks, code, failed or bool(code), _REFUSED.search(text[:500]) is not None, value)


def _object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = parse(text.encode("utf-8", "replace"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
