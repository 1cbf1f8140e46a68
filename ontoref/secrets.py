"""Secrets in a text: found by their form, and replaced on request. A warning, never a verdict.

A rule is looked at only where its mark occurs, so a text without any costs a few substring searches. Commit ids
and hashes have none of these forms and are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

__all__ = ["RULES_VERSION", "Secret", "find", "redact"]

# Raised whenever a rule is added or changed: stored next to what was redacted by it.
RULES_VERSION = 1


class Secret(NamedTuple):
    """A stretch of a text that looks like a secret. Shape: text[start:end] is the secret alone; kind is kebab-case."""

    kind: str
    start: int
    end: int


class _Rule(NamedTuple):
    """Shape: marks are texts in lower case of which a match holds one; pattern's group 1, if any, is the secret."""

    kind: str
    marks: tuple[str, ...]
    pattern: str


# A token begins where no character of a token stands before it: so each run of characters is read once, and
# the time stays linear whatever the text is.
_RULES = (
    _Rule("aws-key", ("akia", "asia"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    _Rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"(?<![A-Za-z0-9_])gh[pousr]_[A-Za-z0-9]{20,255}"),
    _Rule("github-token", ("github_pat_",), r"(?<![A-Za-z0-9_])github_pat_[A-Za-z0-9_]{20,255}"),
    _Rule("gitlab-token", ("glpat-", "gldt-", "glrt-"), r"(?<![A-Za-z0-9_-])gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,255}"),
    _Rule("anthropic-key", ("sk-ant-",), r"(?<![A-Za-z0-9_-])sk-ant-[A-Za-z0-9_-]{16,255}"),
    # One of the characters is a digit: `sk-` also begins names in lower case with hyphens.
    _Rule("openai-key", ("sk-",), r"(?<![A-Za-z0-9_-])sk-(?!ant-)(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20,255}"),
    _Rule("slack-token", ("xox", "xapp-"), r"(?<![A-Za-z0-9-])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}"),
    _Rule("slack-webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/]{20,255})"),
    _Rule("google-key", ("aiza",), r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}"),
    _Rule("google-token", ("ya29.",), r"(?<![A-Za-z0-9_.-])ya29\.[A-Za-z0-9_-]{20,1000}"),
    _Rule("stripe-key", ("_live_", "_test_"), r"(?<![A-Za-z0-9_])[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    _Rule("webhook-secret", ("whsec_",), r"(?<![A-Za-z0-9_])whsec_[A-Za-z0-9+/=]{20,255}"),
    _Rule("npm-token", ("npm_",), r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _Rule("pypi-token", ("pypi-",), r"(?<![A-Za-z0-9_-])pypi-[A-Za-z0-9_-]{50,1000}"),
    _Rule("huggingface-token", ("hf_",), r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,255}"),
    _Rule("sendgrid-key", ("sg.",), r"(?<![A-Za-z0-9_.-])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"),
    _Rule("digitalocean-token", ("do_v1_", "doo_v1_", "dop_v1_"), r"(?<![A-Za-z0-9_])do[opr]?_v1_[a-f0-9]{64}"),
    _Rule("age-key", ("age-secret-key-",), r"AGE-SECRET-KEY-1[0-9A-Z]{40,80}"),
    _Rule(
        "jwt", ("eyj",), r"(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}"
    ),
    _Rule(
        "uri-password",
        ("://",),
        # User and host say where it was used and stay; names of variables stand for a password that is not there.
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@?#\"'<>]{0,200}:(?![\[$<{*%])([^\s/\"'<>]{1,200})@",
    ),
    _Rule(
        "bearer-token",
        ("bearer",),
        r"(?<![A-Za-z0-9_])[Bb](?:earer|EARER)[ \t]{1,4}(?=[A-Za-z._~+/=-]{0,200}[0-9])([A-Za-z0-9._~+/=-]{16,2000})",
    ),
    _Rule(
        "basic-credentials",
        ("authorization",),
        r"[Aa](?:uthorization|UTHORIZATION)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
        r"[Bb]asic[ \t]{1,4}([A-Za-z0-9+/]{8,1000}={0,2})",
    ),
    _Rule(
        "password",
        ("passw", "secret", "token", "apikey", "api_key", "api-key", "access_key", "access-key", "private_key"),
        r"(?i:passw(?:or)?d|passphrase|secret|token|(?:api|access|private|secret|encryption)[_-]?key)[\"']?"
        # name=value as it is; `name: value` and `name = value` also stand in prose and code, so a digit is asked for.
        r"(?:=(?!=)|[ \t]{0,3}[:=](?!=)[ \t]{0,3}(?=[\"']?[A-Za-z_.+/-]{0,200}[0-9]))[\"']?"
        r"(?![0-9.,:-]{6,200}+(?:[\s\"',;]|$))"
        r"([^\s\"'`,;<>(){}\[\]$*\\]{6,200}+)(?![\[({$<])",
    ),
)
_BEGIN_KEY, _END_KEY = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----", "-----END "


def find(text: str) -> list[Secret]:
    """Every stretch that looks like a secret, in order, none within another."""
    found = sorted(_matches(text), key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def redact(text: str) -> str:
    """The text with `[redacted:kind]` in place of each secret. Doing it twice changes nothing more."""
    parts, last = [], 0
    for secret in find(text):
        parts += [text[last : secret.start], f"[redacted:{secret.kind}]"]
        last = secret.end
    return "".join(parts) + text[last:] if parts else text


def _matches(text: str) -> Iterator[Secret]:
    lowered = text.lower()
    if "private key" in lowered:
        yield from _private_keys(text)
    for number, rule in enumerate(_RULES):
        if any(mark in lowered for mark in rule.marks):
            pattern = _compiled(number)
            for match in pattern.finditer(text):
                yield Secret(rule.kind, *match.span(pattern.groups))


def _private_keys(text: str) -> Iterator[Secret]:
    """PEM blocks; one without an end reaches to the end of the text."""
    position = 0
    for match in re.finditer(_BEGIN_KEY, text):
        if match.start() < position:
            continue
        end = text.find(_END_KEY, match.end())
        dashes = text.find("-----", end + len(_END_KEY)) if end >= 0 else -1
        position = dashes + 5 if dashes >= 0 else len(text)
        yield Secret("private-key", match.start(), position)


@cache
def _compiled(number: int) -> re.Pattern[str]:
    return re.compile(_RULES[number].pattern)
