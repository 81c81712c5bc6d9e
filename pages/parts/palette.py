"""The colours of span kinds and configurations, the same on every page.

Cool colours for the fixed floor, warm ones for what grows on top. On a dark background the deep ones are too near to
it, so charts ask for the set of their theme.
"""

from __future__ import annotations

from core.decisions import Action
from core.spans import SpanKind

NOT_RECORDED, CORRECTION = "not recorded", "correction"
"""What fills a window beside spans: tokens that the recording does not hold, and those counted too much (below 0)."""

KINDS: dict[str, str] = {
    NOT_RECORDED: "#94806f",
    CORRECTION: "#b3453b",
    SpanKind.OVERHEAD: "#9aa5ab",
    SpanKind.INSTRUCTIONS: "#3b4a8f",
    SpanKind.TOOL_DEFINITION: "#7a86c8",
    SpanKind.EXAMPLES: "#aab4e8",
    SpanKind.MEMORY: "#8c5fa8",
    SpanKind.SUMMARY: "#c39ad6",
    SpanKind.RETRIEVAL: "#c2703d",
    SpanKind.USER: "#1b8a7a",
    SpanKind.ASSISTANT: "#7cc4b8",
    SpanKind.THINKING: "#c9d3a5",
    SpanKind.TOOL_CALL: "#e2b84a",
    SpanKind.TOOL_RESULT: "#d98c1f",
    SpanKind.IMAGE: "#b5566b",
    SpanKind.OTHER: "#6f7a80",
}
_DARK_KINDS: dict[str, str] = {
    CORRECTION: "#e2776d",
    SpanKind.INSTRUCTIONS: "#5466bd",
    SpanKind.USER: "#22a392",
    SpanKind.OTHER: "#828e94",
}

CONFIGURATIONS = ("#1b6f8f", "#c2703d", "#6b3fa0", "#5f7f2e")
_DARK_CONFIGURATIONS = ("#4ba6c9", "#df8d57", "#a57ce0", "#93b957")

CAPTURED = "#9aa5ab"
_LIMIT, _DARK_LIMIT = "#b3453b", "#e2776d"
_ACTIONS = {
    Action.KEEP: ("#6b767b", "#8d999f"),
    Action.DROP: ("#b3453b", "#e2776d"),
    Action.DEFER: ("#8a6116", "#e2b84a"),
    Action.TRIM: ("#8a6116", "#e2b84a"),
    Action.SUMMARISE: ("#6b3fa0", "#c39ad6"),
    Action.STUB: ("#1b6f8f", "#6dbbd8"),
    Action.PROJECT: ("#1b6f8f", "#6dbbd8"),
}
"""Text colours, so with more contrast than areas need."""


def kinds(dark: bool) -> dict[str, str]:
    """Return the colour of each span kind, in the order in which charts stack them."""
    return {**KINDS, **_DARK_KINDS} if dark else KINDS


def configurations(dark: bool) -> tuple[str, ...]:
    """Return the colours of the configurations of a comparison, in order."""
    return _DARK_CONFIGURATIONS if dark else CONFIGURATIONS


def limit(dark: bool) -> str:
    """Return the colour of budget lines."""
    return _DARK_LIMIT if dark else _LIMIT


def ground(dark: bool) -> str:
    """Return the colour of the page behind a chart."""
    return "#12171a" if dark else "#ffffff"


def action(name: str, dark: bool) -> str:
    """Return the text colour of an action."""
    return _ACTIONS[Action(name)][dark]
