"""One line of a Claude Code session, with the fields that matter made safe: a log may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..wire import Wire


class Line:
    """One record, with the fields that matter here made safe."""

    def __init__(self, value: Wire, place: str) -> None:
        self.value = value
        self.place = place
        self.kind = str(value.get("type"))
        self.uuid = self.text("uuid")
        self.parent = self.text("parentUuid") or None
        self.is_side = value.get("isSidechain") is True
        self.is_summary = value.get("isCompactSummary") is True

    def text(self, key: str) -> str:
        """Return a field's text, empty if it holds none."""
        found = self.value.get(key)
        return found if isinstance(found, str) else ""

    @property
    def message(self) -> Wire:
        """The message, empty if there is none."""
        found = self.value.get("message")
        return found if isinstance(found, Mapping) else {}

    @property
    def content(self) -> str | list[Any] | None:
        """The message's content, None if it is neither a text nor a list."""
        found = self.message.get("content")
        return found if isinstance(found, str | list) else None

    @cached_property
    def blocks(self) -> list[Wire]:
        """The blocks of the content that are objects."""
        return [block for block in self.content if isinstance(block, Mapping)] if isinstance(self.content, list) else []

    @property
    def model(self) -> str:
        """The model that answered, empty if none is named."""
        found = self.message.get("model")
        return found if isinstance(found, str) else ""

    @property
    def is_api_error(self) -> bool:
        """An error text in the form of a reply: shown, never sent."""
        return self.value.get("isApiErrorMessage") is True

    @property
    def is_shown_only(self) -> bool:
        """A message that only the user sees. A compaction's summary carries the same mark and is sent."""
        return self.value.get("isVisibleInTranscriptOnly") is True and not self.is_summary

    @property
    def is_typed(self) -> bool:
        """A text that the user typed, not one that was injected or a command's output."""
        if self.kind != "user" or self.value.get("isMeta") is True or self.is_summary:
            return False
        return bool(self.typed) and not self.typed.lstrip().startswith(("<", "Caveat: ", "[Request interrupted"))

    @cached_property
    def typed(self) -> str:
        """The text of the content."""
        if isinstance(self.content, str):
            return self.content
        texts = [block.get("text") for block in self.blocks if block.get("type") == "text"]
        return " ".join(text for text in texts if isinstance(text, str))
