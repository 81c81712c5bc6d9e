"""What can go wrong with the store, as a sentence for a page, a route or a command line."""

from __future__ import annotations

from core.errors import PromptInspectorError

__all__ = ["NotFound", "StorageError"]


class StorageError(PromptInspectorError):
    """The database cannot be opened, read or written."""


class NotFound(StorageError):
    """What was asked for is not, or no longer, in the store."""
