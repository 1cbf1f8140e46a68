"""Secrets are found by their form; what only looks long is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.secrets import find, redact

# Put together here, so that no scanner takes this file for a leak.
_A36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SECRETS = [
    ("aws-key", "AKIA" + "IOSFODNN7EXAMPLE"[:14] + "QQ"),
    ("github-token", "ghp_" + _A36),
    ("github-token", "github_pat_" + _A36),
    ("gitlab-token", "glpat-" + _A36[:20]),
    ("anthropic-key", "sk-ant-" + "api03-" + _A36),
    ("openai-key", "sk-" + "proj-" + _A36),
    ("slack-token", "xoxb-" + "1234567890-" + _A36),
    ("google-key", "AIza" + _A36[:35]),
    ("google-token", "ya29." + _A36),
    ("stripe-key", "sk_live_" + _A36),
    ("npm-token", "npm_" + _A36),
    ("pypi-token", "pypi-" + _A36 + _A36),
    ("huggingface-token", "hf_" + _A36),
    ("jwt", "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + "." + _A36),
    ("private-key", "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"),
    ("private-key", "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3Bl"),
]
AROUND = [
    ("uri-password", "postgres://app:", "hunter2", "@db.example/x"),
    ("uri-password", "https://user:", "p@ss", "@host"),
    ("bearer-token", "Authorization: Bearer ", _A36, ""),
    ("basic-credentials", "Authorization: Basic ", "dXNlcjpwYXNzd29yZA==", ""),
    ("password", "DB_PASSWORD=", "hunter22", " make"),
    ("password", '"api_key": "', "k3yk3yk3yk3y", '"'),
    ("password", "token: ", "abc123def456", ", then"),
    ("slack-webhook", "https://hooks.slack.com/services/", "T0001/B0001/" + _A36[:24], " now"),
]
ALONE = [
    "3d94609f08097be77dcee421ba7417b8e673037c",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 fixed the token: it expired",
    "01JE4Q8ZT3W6M1K9V2C5N7X0RB",
    "max_tokens=100000 and token = parse_token(text)",
    "the secret: authentication was the hard part",
    "password=$DB_PASSWORD and postgres://app:${PASSWORD}@db/x",
    "https://example.org:8080/a@b",
    "sk-learn-is-spelled-scikit-learn-in-packages",
    "a bearer of good-news-for-everybody",
    "ontoref/secrets.py: token_count == expected_tokens",
    "password: [redacted:password]",
    "",
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=lambda v: v[:14])
def test_a_secret_is_found_and_replaced_whole(kind: str, secret: str) -> None:
    text = f"I used {secret} to push."
    ends = len("I used ") + len(secret)
    assert [(s.kind, s.start, s.end) for s in find(text)] == [
        (kind, 7, ends if "PRIVATE" not in secret or "END" in secret else len(text))
    ]
    assert secret not in redact(text)
    assert redact(text).startswith(f"I used [redacted:{kind}]")


@pytest.mark.parametrize(("kind", "before", "secret", "after"), AROUND)
def test_what_stands_around_a_secret_stays(kind: str, before: str, secret: str, after: str) -> None:
    assert redact(before + secret + after) == f"{before}[redacted:{kind}]{after}"


@pytest.mark.parametrize("text", ALONE)
def test_hashes_variables_and_prose_are_left_alone(text: str) -> None:
    assert find(text) == []


@given(st.text(alphabet=st.sampled_from("sk-ant_ghpeyJ.:/@=AKIA0 9\nBearer token\"'"), max_size=400))
@settings(max_examples=200, deadline=None)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece",
    [
        "a://",
        "eyJ",
        "eyJaaaaaaaaa.",
        "token=",
        "-----BEGIN PRIVATE KEY-----",
        "bearer ",
        "sk-",
        "password: ",
        "x" * 10,
        "a:b@",
    ],
)
def test_the_time_is_linear(piece: str) -> None:
    """A megabyte of the beginnings of secrets costs no more than some seconds, however they repeat."""
    text = piece * ((1 << 20) // len(piece))
    begun = time.process_time()
    find(text)
    assert time.process_time() - begun < 8
