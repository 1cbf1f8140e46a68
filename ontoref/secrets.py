"""Secrets in text: found by their shape, so that a writer can be warned or the text redacted.

It looks for what is a secret by its form alone (key prefixes, PEM blocks, passwords in URIs, bearer tokens,
`password=` and its like). Commit ids, digests and UUIDs have no such form and are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["RULES_VERSION", "Secret", "find", "redact"]

# Raised with every change of the rules, so that an old answer can be told from a new one.
RULES_VERSION = 1


class Secret(NamedTuple):
    """Where a secret stands. Shape: text[start:end] is the secret; kind is kebab-case."""

    kind: str
    start: int
    end: int


# Every repetition is bounded or followed by what it cannot contain, so that a search takes linear time.
_RULES = {
    "private-key": (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[^-]{0,16384}-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?"
    ),
    "aws-key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,251})\b",
    "gitlab-token": r"\bglpat-[A-Za-z0-9_-]{20,100}\b",
    "anthropic-key": r"\bsk-ant-[A-Za-z0-9_-]{20,200}",
    "openai-key": r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,200}\b",
    "google-key": r"\bAIza[A-Za-z0-9_-]{35}",
    "slack-token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}",
    "slack-hook": r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,100}",
    "stripe-key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,200}",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "package-token": r"\bpypi-[A-Za-z0-9_-]{50,300}",
    "huggingface-token": r"\bhf_[A-Za-z0-9]{30,100}\b",
    "sendgrid-key": r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,100}",
    "age-key": r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b",
    "jwt": r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}",
    "uri-password": r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{0,100}:(?P<secret_uri>[^\s:/@\"'<>]{1,200})@",
    "bearer-token": r"(?i:\bbearer)[ \t]{1,4}(?P<secret_bearer>[A-Za-z0-9._~+/=-]{16,2000})",
    "assigned-secret": (
        r"(?i:\b[a-z0-9_-]{0,40}(?:passwd|password|passphrase|secret|api[_-]?key|access[_-]?token|auth[_-]?token"
        r"|private[_-]?key))[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?P<secret_assigned>[^\s\"',;]{8,200})"
    ),
}
_PATTERN = re.compile("|".join(f"(?P<r{n}>{rule})" for n, rule in enumerate(_RULES.values())))
_KINDS = tuple(_RULES)
# Any secret holds one of these; text without them is not searched by the expression.
_HINTS = re.compile(
    r"PRIVATE KEY|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk-|AIza|xox|hooks\.slack|k_live_|k_test_|npm_|pypi-|hf_"
    r"|SG\.|AGE-|eyJ|://|(?i:bearer|passwd|password|passphrase|secret|api.?key|token|private.?key)"
)
# What stands where a secret would, in examples and templates.
_PLACEHOLDER = re.compile(
    r"\A(?:\$|<|\{|%|\*{3}|x{4}|\[redacted:|\.{3}|(?i:your|example|changeme|redacted|none|null|true|false))"
)


def find(text: str) -> Iterator[Secret]:
    """Every secret in a text, in order, none overlapping."""
    if _HINTS.search(text) is None:
        return
    for match in _PATTERN.finditer(text):
        number = next(n for n in range(len(_KINDS)) if match[f"r{n}"] is not None)
        name = next((g for g in ("secret_uri", "secret_bearer", "secret_assigned") if match[g] is not None), None)
        start, end = match.span(name) if name else match.span()
        if not _PLACEHOLDER.match(text, start):
            yield Secret(_KINDS[number], start, end)


def redact(text: str) -> str:
    """The text with each secret replaced by `[redacted:kind]`; redacting twice changes nothing more."""
    pieces, position = [], 0
    for secret in find(text):
        pieces += [text[position : secret.start], f"[redacted:{secret.kind}]"]
        position = secret.end
    return "".join([*pieces, text[position:]])
