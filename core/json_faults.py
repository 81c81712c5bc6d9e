"""What is wrong with a text that is not JSON, as part of a sentence: the parser's own words name only half a place."""

from __future__ import annotations

import json

__all__ = ["json_fault", "said_by_parser"]


def said_by_parser(error: json.JSONDecodeError) -> str:
    """Return the parser's message without the place that some of them break off before: "unterminated string"."""
    said = error.msg.strip()
    for ending in (" starting at", " at"):
        said = said.removesuffix(ending)
    return said[:1].lower() + said[1:]


def json_fault(error: ValueError | RecursionError) -> str:
    """Return what a parser could not read, and where."""
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, json.JSONDecodeError):
        return f"{said_by_parser(error)}, line {error.lineno:,}, column {error.colno:,}"
    return str(error)
