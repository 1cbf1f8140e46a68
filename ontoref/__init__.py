"""Typed records of what agents and people decided, did and found out."""

__all__ = ["__version__"]

__version__ = "0.1.0"
