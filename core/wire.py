"""The JSON that providers take and give, kept as it came.

A *wire* value is a parsed JSON object. It is never changed in place: whoever needs another one builds a new
dictionary, so that a transcript, a memo and a request may share the same objects.
"""

from __future__ import annotations

import hashlib
import json
import marshal
from collections.abc import Mapping
from typing import Any

Wire = Mapping[str, Any]

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""Made once: `json.dumps` makes a new one for each call with these settings, which costs more than a short message."""


def dump(body: Any) -> str:
    """Return compact JSON in insertion order, with non-ASCII characters as they are (DESIGN section 5)."""
    return _ENCODER.encode(body)


def body_sha256(body: Any) -> str:
    """Return the sha256 (hex) of a request body as it would be sent; lone surrogates are passed through."""
    return hashlib.sha256(dump(body).encode("utf-8", "surrogatepass")).hexdigest()


def digest(text: str) -> bytes:
    """Return a 16-byte content key of a text of any kind, lone surrogates included."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def mark(value: Any) -> bytes:
    """Return a 16-byte key of a JSON value within this process: what tells two values apart in their JSON.

    Python's own serialisation is several times as fast as JSON, tells 1 from 1.0 and from true, and keeps the order of
    keys. Its first version, because later ones depend on how often a string is referred to.
    """
    try:
        raw = marshal.dumps(value, 0)
    except ValueError:
        return digest(dump(value))
    return hashlib.blake2b(raw, digest_size=16).digest()


def text_of(value: Any) -> str:
    """Return a string as it is, None as an empty one, and any other JSON value as compact JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else dump(value)
