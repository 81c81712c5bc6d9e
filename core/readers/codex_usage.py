"""The token counts of a Codex rollout: which call each belongs to, and which only repeat the one before.

The same figures are often written twice, the total only grows, and a new session in the same file begins at zero.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from ..transcript import Usage
from ..wire import Wire, dump
from .fields import inner
from .figures import count, figure


class TokenCounts:
    """Counts and replies in the order of the file, matched one to one."""

    def __init__(self) -> None:
        self.window: int | None = None
        """The model's context window, as the newest count says."""
        self._total = ""
        self._before: Wire = {}
        self._pending: deque[Usage] = deque()
        self._open: int | None = None

    def take(self, payload: Wire) -> Usage | None:
        """Return what a count says about one call; None if it says nothing new."""
        info = payload.get("info", payload)
        if not isinstance(info, Mapping):
            return None
        self.window = count(info.get("model_context_window")) or self.window
        total = inner(info, "total_token_usage")
        last = inner(info, "last_token_usage") or (_difference(total, self._before) if total else info)
        told, before = dump(total or last), self._total
        self._total, self._before = told, total
        usage = _usage(last)
        if told == before or not usage.input:
            return None
        return usage

    def attach(self, usage: Usage) -> int | None:
        """Return the reply that waits for a count; if none does, keep the count for the next reply."""
        call, self._open = self._open, None
        if call is None:
            self._pending.append(usage)
        return call

    def pending(self) -> Usage | None:
        """Take the count that was written before its reply, if there is one."""
        return self._pending.popleft() if self._pending else None

    def replied(self, call: int, counted: bool = False) -> None:
        """Note a reply; the first one of a turn that has no count waits for it."""
        if counted:
            self._open = None
        elif self._open is None:
            self._open = call

    def new_turn(self) -> None:
        """Note that the user spoke: a reply of the turn before gets no count any more."""
        self._open = None

    def left(self) -> int:
        """Return how many counts found no reply."""
        return len(self._pending)


def _usage(last: Wire) -> Usage:
    return Usage(
        input=figure(last.get("input_tokens")),
        cache_read=figure(last.get("cached_input_tokens")),
        cache_write=figure(last.get("cache_write_input_tokens")),
        output=figure(last.get("output_tokens")),
        reasoning=figure(last.get("reasoning_output_tokens")),
    )


def _difference(total: Wire, before: Wire) -> dict[str, Any]:
    return {
        key: grown
        for key, value in total.items()
        if (now := figure(value)) is not None and (grown := now - (figure(before.get(key)) or 0)) >= 0
    }
