"""One session as one file: the replay page with everything in it, for a browser without any server."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from typing import Any, NamedTuple

from ontoref.replay.answers import MOST_DEPTH, MOST_LIMIT, Options, tree_answer
from ontoref.replay.build import build_tree
from ontoref.replay.preview import packed, preview
from ontoref.replay.source import Source
from ontoref.replay.titles import turn_line
from ontoref.secrets import find

__all__ = ["Exported", "export_html", "shell"]

_MODULES = ("dom.js", "diff.js", "render.js", "replay.js", "source.js", "theme.js", "exported.js")
_STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
_LISTS = ("turns", "delegations", "workflows", "stages", "events", "approvals", "mode_changes", "spawn", "return")
_DETAILS_BYTES = 2048


class Exported(NamedTuple):
    """Shape: html is the whole file; redacted counts the secrets that were taken out of it."""

    html: bytes
    redacted: int


def export_html(source: Source, session_id: str, *, redact: bool = True) -> Exported:
    """The file for one session, sub-agents' sessions opened, payloads whole."""
    tree = _whole(source, session_id)
    _trim(tree)
    lines = [turn_line(turn) for turn in build_tree(source.rows(session_id) or ()).turns]
    note = "exported session, secrets redacted" if redact else "exported session"
    data: dict[str, Any] = {
        "note": note,
        "tree": tree,
        "outline": {"id": session_id, "turns": lines, "info": None, "row_count": tree["row_count"]},
    }
    redacted = _redact(data) if redact else 0
    text = packed(data).decode().translate({ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"})
    title = tree["session_id"]
    return Exported(shell(title, text), redacted)


def shell(title: str, data: str) -> bytes:
    """The page around data, which must be JSON without `<`, `>` and `&`."""
    style = _read("style.css")
    script = "(() => {\n" + "\n".join(_bare(_read(name)) for name in _MODULES) + "\n})();\n"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    safe = title.translate({ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"})
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<title>{safe}</title>\n<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n<body>\n'
        '<a class="skip" href="#main">Skip to content</a>\n<header id="top"></header>\n'
        '<main id="main" tabindex="-1"></main>\n'
        '<div id="said" role="status" aria-live="polite" class="unseen"></div>\n'
        f'<script type="application/json" id="data">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n'
    ).encode("utf-8", "replace")


def _whole(source: Source, session_id: str) -> dict[str, Any]:
    """All pages of a tree as one."""
    options: dict[str, Any] = {"depth": MOST_DEPTH, "limit": MOST_LIMIT, "full": True}
    tree = tree_answer(source, session_id, Options(**options))
    page = tree
    while page["next_cursor"] is not None:
        page = tree_answer(source, session_id, Options(**options, cursor=page["next_cursor"]))
        for turn in page["turns"]:
            last = tree["turns"][-1]
            if turn["turn_id"] == last["turn_id"]:
                for name in ("events", "delegations", "approvals", "mode_changes", "workflows"):
                    last[name] += turn[name]
            else:
                tree["turns"].append(turn)
    return tree | {"has_more": False, "next_cursor": None}


def _trim(tree: dict[str, Any]) -> None:
    """Shorten what the page never shows: a runtime's own copy of a result."""
    stack: list[Any] = [tree]
    while stack:
        value = stack.pop()
        payload = value.get("payload")
        if isinstance(payload, dict) and isinstance(payload.get("details"), dict):
            payload = {**payload, "details": preview(payload["details"], _DETAILS_BYTES)[0]}
            value["payload"] = payload
        for name in _LISTS:
            inner = value.get(name)
            if isinstance(inner, list):
                stack.extend(one for one in inner if isinstance(one, dict))
            elif isinstance(inner, dict):
                stack.append(inner)


def _redact(data: dict[str, Any]) -> int:
    """Replace the secrets in every text; how many there were."""
    count = 0
    stack: list[Any] = [data]
    while stack:
        value = stack.pop()
        items = value.items() if isinstance(value, dict) else enumerate(value)
        # A payload belongs to whoever read the session: a changed one is another one.
        for key, inner in list(items):
            if isinstance(inner, str):
                text, found = _clean(inner)
                if found:
                    count += found
                    value[key] = text
            elif isinstance(inner, dict):
                value[key] = dict(inner)
                stack.append(value[key])
            elif isinstance(inner, list):
                value[key] = list(inner)
                stack.append(value[key])
    return count


def _clean(text: str) -> tuple[str, int]:
    pieces, position, count = [], 0, 0
    for secret in find(text):
        pieces += [text[position : secret.start], f"[redacted:{secret.kind}]"]
        position = secret.end
        count += 1
    return ("".join([*pieces, text[position:]]), count) if count else (text, 0)


def _bare(module: str) -> str:
    """A module without its imports and exports, to stand beside the others in one scope."""
    return re.sub(r"^export ", "", re.sub(r"^import .*$", "", module, flags=re.MULTILINE), flags=re.MULTILINE)


def _read(name: str) -> str:
    with open(os.path.join(_STATIC, name), encoding="utf-8") as file:
        return file.read()


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
