"""The errors that a person may read. Each is raised early and shown at the edge: a page, a route or a command line."""

from __future__ import annotations

__all__ = ["ConfigError", "PromptInspectorError", "RequestError"]


class PromptInspectorError(Exception):
    """What went wrong, where, and what to do: a whole sentence."""


class ConfigError(PromptInspectorError):
    """A configuration cannot be used. `key` is the dotted path of the setting, `suggestion` what to write instead."""

    def __init__(self, key: str, problem: str, suggestion: str = "") -> None:
        self.key, self.problem, self.suggestion = key, problem, suggestion
        super().__init__(f"{key}: {problem}" + (f" {suggestion}" if suggestion else ""))


class RequestError(PromptInspectorError):
    """A request body is not one of a known dialect, so nothing can be planned for it."""
