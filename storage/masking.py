"""Masking of requests that resend what was masked before.

A growing run sends each message again with every call. A message that was found clean once is clean for ever, so its
hash is remembered and its text is not searched again. The hashes are the builder's keys and are used there once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.readers.builder import exact_keys
from core.redact import SECRETS_ONLY, Masked, Privacy, mask
from core.wire import Wire

__all__ = ["MaskedRequest", "RequestMasker"]

MOST_KNOWN = 200_000
"""Hashes remembered, 16 bytes each."""


@dataclass(frozen=True, slots=True)
class MaskedRequest:
    """A request without its secrets, the exact key of each of its messages, and what was replaced."""

    request: Wire
    keys: list[bytes]
    found: Mapping[str, int]


class RequestMasker:
    """Masks request bodies, remembering which messages hold no secret."""

    def __init__(self, privacy: Privacy = SECRETS_ONLY) -> None:
        self._privacy = privacy
        self._clean: set[bytes] = set()

    def mask(self, request: Any) -> MaskedRequest:
        """Return a request without its secrets. What is no request body is masked all the same."""
        messages = request.get("messages") if isinstance(request, Mapping) else None
        if not isinstance(messages, list):
            masked = self._masked(request)
            return MaskedRequest(masked.value, [], masked.found)
        frame = self._masked({**request, "messages": []})
        found = Counter(frame.found)
        clean = [self._message(wire, key, found) for wire, key in zip(messages, exact_keys(messages), strict=True)]
        keys = [key for _, key in clean]
        return MaskedRequest({**frame.value, "messages": [wire for wire, _ in clean]}, keys, found)

    def _message(self, wire: Any, key: bytes, found: Counter[str]) -> tuple[Any, bytes]:
        if key in self._clean:
            return wire, key
        masked = self._masked(wire)
        if masked.found:
            found.update(masked.found)
            return masked.value, exact_keys([masked.value])[0]
        if len(self._clean) >= MOST_KNOWN:
            self._clean.clear()
        self._clean.add(key)
        return wire, key

    def _masked(self, value: Any) -> Masked:
        return mask(value, self._privacy)
