"""The one byte form of a JSON value (RFC 8785), for what is hashed or signed."""

from __future__ import annotations

from typing import Any

from ontoref.errors import OntorefError

__all__ = ["NotCanonical", "canonical"]

_LARGEST = (1 << 53) - 1


class NotCanonical(OntorefError):
    """A value has no form that every implementation writes alike."""

    kind = "not-canonical"


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value.

    Shape:  a sorted dump by orjson is that form as long as keys are of the basic plane (it sorts by bytes, the RFC
            by UTF-16 units) and numbers are whole and below 2^53; whatever else is refused, not guessed.
    Errors: NotCanonical for a fraction, a larger number, a key beyond the basic plane or a lone surrogate.
    Source: RFC 8785, sections 3.2.2 and 3.2.3; the tests compare with another implementation.
    """
    import orjson

    _check(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError) as error:
        raise NotCanonical(f"the value has no canonical form: {error}") from None


def _check(value: Any) -> None:
    stack = [value]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is dict:
            for key in node:
                if not key.isascii() and max(key) > "\uffff":
                    raise NotCanonical(f"the key {key!r} lies beyond the basic plane")
            stack.extend(node.values())
        elif kind is list:
            stack.extend(node)
        elif kind is float:
            raise NotCanonical(f"the number {node!r} is a fraction, which programs write differently")
        elif kind is int and not -_LARGEST <= node <= _LARGEST:
            raise NotCanonical(f"the number {node} is not exact in every program")
