"""Monocle's spans: `span.type` says what one is, events hold input, output and figures, entities name the model.

The spans of client libraries (`inference.modelapi`) repeat the span around them and say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..transcript import Usage
from .fields import text
from .otel_spans import Span
from .prompts import prompt_of
from .recorded_replies import reply_of
from .responses import openai_usage
from .trace_calls import Recorded

MOST_ENTITIES = 100


def is_inference(span: Span) -> bool:
    """Tell whether a span is Monocle's and speaks of a model."""
    return text(span.attributes, "span.type").startswith("inference")


def says_something(span: Span) -> bool:
    """Tell whether a span holds content or figures."""
    return any(event.name in ("data.input", "data.output", "metadata") and event.attributes for event in span.events)


def agent(span: Span) -> str:
    """Return the agent whose work a span is; empty if it is none's."""
    if text(span.attributes, "span.type") != "agentic.invocation":
        return ""
    return next((name for kind, name in _entities(span) if kind.startswith("agent.")), "")


def recorded(base: Recorded, span: Span) -> Recorded:
    """Return a call with what its events say."""
    given, answered, figures = _told(span, "data.input"), _told(span, "data.output"), _told(span, "metadata")
    model = next((name for kind, name in _entities(span) if kind.startswith("model.")), None)
    return replace(
        base,
        prompt=prompt_of(given.get("input")),
        reply=reply_of(answered.get("response", answered.get("output"))),
        model=base.model or model,
        usage=openai_usage(figures) if figures else Usage(),
    )


def _told(span: Span, name: str) -> Mapping[str, Any]:
    return next((event.attributes for event in span.events if event.name == name), {})


def _entities(span: Span) -> Iterator[tuple[str, str]]:
    for number in range(1, MOST_ENTITIES):
        kind = text(span.attributes, f"entity.{number}.type")
        name = text(span.attributes, f"entity.{number}.name")
        if not kind and not name:
            return
        yield kind, name
