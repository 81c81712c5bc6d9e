"""The errors that a person may read. Each is raised early and shown at the edge: a page, a route or a command line."""

from __future__ import annotations

__all__ = ["ConfigError", "MissingError", "PromptInspectorError", "RequestError"]


class PromptInspectorError(Exception):
    """What went wrong, where, and what to do: a whole sentence."""


class ConfigError(PromptInspectorError):
    """A configuration cannot be used. `key` is the dotted path of the setting, `suggestion` what to write instead.

    `more` are the other faults of the same configuration, so that they can be mended at once.
    """

    def __init__(self, key: str, problem: str, suggestion: str = "", more: tuple[ConfigError, ...] = ()) -> None:
        self.key, self.problem, self.suggestion, self.more = key, problem, suggestion, more
        super().__init__(f"{key}: {problem}" + (f" {suggestion}" if suggestion else ""))


class RequestError(PromptInspectorError):
    """A request body is not one of a known dialect, so nothing can be planned for it."""


class MissingError(PromptInspectorError):
    """What was asked about is not in what was given, so there is nothing to say of it."""
