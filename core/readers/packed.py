"""The bodies of recorded HTTP messages as text: base64, gzip and deflate, and the ways that recorders hold bytes."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

MOST_BYTES = 64 << 20
"""What one body may unpack to: far above any response of a model."""

_FRAME = re.compile(r'\{"bytes":"([A-Za-z0-9+/=]+)"')
_NAMED = re.compile(r":event-type\x07[\s\S]{2}([A-Za-z]+)")
_DECODER = json.JSONDecoder(strict=False)
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")


def as_text(data: bytes) -> str:
    """Return the text of a body, unpacked if it is packed; what is no UTF-8 is replaced by the sign U+FFFD."""
    return unpacked(data).decode("utf-8", "replace")


def unpacked(data: bytes) -> bytes:
    """Return a body as it was before gzip or deflate packed it; as it is if it was not, or if it is damaged."""
    if data.startswith(b"\x1f\x8b"):
        return _inflated(data, 31) or data
    if data[:1] == b"\x78" and len(data) > 2 and (data[0] << 8 | data[1]) % 31 == 0:
        return _inflated(data, 15) or data
    return data


def body_text(body: Any) -> Any:
    """Return a recorded body as text, or the JSON value that the recorder made of it; None if there is none.

    Recorders keep a text, its base64, an object around one of these, a list of chunks, or the parsed value.
    """
    if isinstance(body, Mapping):
        for key in ("string", "text", "data"):
            if isinstance(body.get(key), str):
                coded = key == "data" or str(body.get("encoding")).lower() == "base64"
                return _decoded(body[key]) if coded else body[key]
        if isinstance(body.get("base64_string"), str):
            return _decoded(body["base64_string"])
        return None if body.keys() <= {"encoding", "string", "text"} else body
    if isinstance(body, list) and body and all(isinstance(chunk, str) for chunk in body):
        return _chunks(body)
    return body


def polly_text(text: str, coded: bool) -> str:
    """Return the text of a HAR body; Polly.js keeps packed ones as a JSON list of base64 chunks."""
    chunks = _json_list(text) if text.startswith("[") else None
    if coded and chunks is not None:
        return _chunks(chunks)
    return _decoded(text) if coded else text


def frames(text: str) -> list[str]:
    """Return the payloads in the frames of one of Amazon's event streams, which are base64 within JSON."""
    coded = _FRAME.findall(text) if '{"bytes":"' in text else []
    return [data.decode("utf-8", "replace") for one in coded if (data := _bytes(one)) is not None]


def named_frames(text: str) -> list[tuple[str, Any]]:
    """Return name and payload of each frame of one of Amazon's event streams whose payload is JSON as it stands."""
    found = []
    for match in _NAMED.finditer(text) if ":event-type" in text else ():
        start = text.find("{", match.end())
        try:
            found.append((match.group(1), _DECODER.raw_decode(text, start)[0]))
        except (ValueError, RecursionError, IndexError):
            continue
    return found


def _chunks(chunks: list[str]) -> str:
    """Join chunks that are hex (as nock writes packed bodies), base64, or plain text."""
    if all(chunk and len(chunk) % 2 == 0 and HEX_DIGITS.issuperset(chunk) for chunk in chunks):
        return as_text(bytes.fromhex("".join(chunks)))
    data = [_bytes(chunk) for chunk in chunks]
    return as_text(b"".join(part for part in data if part is not None)) if None not in data else "".join(chunks)


def _decoded(text: str) -> str:
    data = _bytes(text)
    return text if data is None else as_text(data)


def _bytes(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _json_list(text: str) -> list[str] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) and value and all(isinstance(chunk, str) for chunk in value) else None


def _inflated(data: bytes, bits: int) -> bytes:
    """Unpack as far as the data goes: a body whose recording was cut off still has its beginning."""
    unpacker, found = zlib.decompressobj(bits), b""
    try:
        return unpacker.decompress(data, MOST_BYTES)
    except zlib.error:
        return found
