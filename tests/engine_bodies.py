"""Random request bodies of all dialects: what agents really send, and what broken logs hold."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.engine_anthropic import Anthropic
from tests.engine_gemini import Gemini
from tests.engine_openai import OpenAI, Responses
from tests.engine_values import MARK, Wire, Writer

WRITERS: dict[str, Any] = {
    "openai_chat": OpenAI,
    "openai_responses": Responses,
    "anthropic": Anthropic,
    "gemini": Gemini,
}
DIALECTS = tuple(WRITERS)
LISTS = {"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents"}
"""The key under which a body has its messages."""
MODELS = ["gpt-4o", "gpt-4", "gpt-5", "claude-opus-4-7"]
_COMMON = ["user", "user", "assistant", "assistant", "step", "step", "step", "step", "told"]


def _events(writer: Any) -> list[str]:
    events = [*_COMMON, *writer.events]
    return events if writer.tidy else [*events, *events, *writer.rare]


def _written(writer: Any, messages: list[Wire], names: list[str]) -> list[Wire]:
    for name in names:
        messages = [*messages, *writer.before(messages, getattr(writer, name)())]
    return messages


@st.composite
def bodies(draw: Any, dialect: str, most: int = 12, tidy: bool | None = None) -> Wire:
    """A request body; a tidy one has nothing that a provider would refuse, beside its order of roles."""
    plain = draw(st.booleans()) if tidy is None else tidy
    writer: Writer = WRITERS[dialect](draw, plain)
    messages = writer.user() if plain else []  # type: ignore[attr-defined]
    messages = _written(writer, messages, draw(st.lists(st.sampled_from(_events(writer)), max_size=most)))
    return writer.body(writer.systems(), messages, writer.tools())  # type: ignore[attr-defined,no-any-return]


@st.composite
def growing(draw: Any, dialect: str, most: int = 7) -> list[Wire]:
    """Request bodies of one run, each most often the last one and what came after it.

    System prompts and tools change between them, cache marks wander, requests are sent twice, cut short or edited.
    """
    writer: Any = WRITERS[dialect](draw)
    systems, tools, more = writer.systems(), writer.tools(), {}
    messages = writer.user()
    found = []
    for _ in range(draw(st.integers(1, most))):
        change = draw(st.integers(0, 11))
        if change == 0:
            systems = writer.systems()
        elif change == 1:
            tools = writer.tools()
        elif change == 2 and len(messages) > 1:
            messages = messages[: draw(st.integers(1, len(messages) - 1))]
        elif change == 3:
            messages = [*messages[:-1], *writer.user()]
        elif change == 4:
            more = {"model": draw(st.sampled_from(MODELS))}
        elif change == 5:
            pass
        else:
            events = draw(st.lists(st.sampled_from(_events(writer)), min_size=1, max_size=3))
            messages = _written(writer, messages, events)
        sent = _marked(messages, draw(st.integers(0, len(messages) - 1))) if draw(st.booleans()) else messages
        found.append({**writer.body(systems, json.loads(json.dumps(sent)), tools), **more})
    return found


def _marked(messages: list[Wire], at: int) -> list[Wire]:
    """Give one message a cache mark; a plain text becomes a list of one part for it."""
    message = messages[at]
    content = message.get("content")
    if isinstance(content, str) and content and message.get("role") in ("user", "assistant"):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content or not isinstance(content[-1], dict):
        return messages
    marked = {**message, "content": [*content[:-1], {**content[-1], "cache_control": MARK}]}
    return [*messages[:at], marked, *messages[at + 1 :]]
