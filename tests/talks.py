"""Small conversations told once and written in every dialect, and the strategies that cut them.

A conversation is a list of events; an event may become several wire messages. Texts carry a letter and a number
(`u1`, `a2`, `r3`), so that a test can say in one word what is left of a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.dialects import dialect as dialect_named
from core.runtime import ContextRuntime, Hints, Result
from core.validity import Violation, new_violations, validate

Wire = dict[str, Any]

DIALECTS = ("openai_chat", "openai_responses", "anthropic", "gemini")
LISTS = {"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents"}
CUTTING: dict[str, dict[str, Any]] = {
    "keep_last": {"keep_turns": 1},
    "summarize_and_keep": {"keep_turns": 1, "min_turns": 0, "min_steps": 0},
    "tiered_injection": {"keep_turns": 1},
    "mask_tool_results": {"keep": 1},
    "span_triage": {},
    "required_reserve": {},
}
"""The strategies that cut, set so that they do so in a conversation of a few messages."""


@dataclass(frozen=True)
class Say:
    """A plain message of the user, the assistant or the system."""

    role: str
    text: str


@dataclass(frozen=True)
class Step:
    """A reply with calls, by id, and their results; a result of None never came."""

    results: Mapping[str, str | None]
    text: str = ""
    thinking: str = ""
    name: str = "look"
    arguments: Mapping[str, Any] | None = None


Event = Say | Step


def user(text: str) -> Say:
    return Say("user", text)


def said(text: str) -> Say:
    return Say("assistant", text)


def step(*ids: str, **more: Any) -> Step:
    return Step({call_id: f"r{call_id}" for call_id in ids}, **more)


def long(name: str, words: int = 40) -> str:
    """A text that begins with its name and is long enough to be worth cutting."""
    return name + " and so on" * words


def messages(dialect: str, *events: Event) -> list[Wire]:
    """The events as wire messages."""
    write = _WRITERS[dialect]
    return [wire for event in events for wire in write(event)]


def body(dialect: str, *events: Event, system: str = "", tools: Sequence[str] = ()) -> Wire:
    """The events as a request body."""
    made: Wire = {"model": "m", LISTS[dialect]: messages(dialect, *events)}
    return {**made, **_system(dialect, system, made), **({"tools": _tools(dialect, tools)} if tools else {})}


def run(made: Wire, dialect: str, kind: str, budget: int | None, hints: Hints | None = None, **config: Any) -> Result:
    """Assemble a body under a strategy of `CUTTING`, or any other, and check that it broke no rule of its dialect."""
    settings = {**CUTTING.get(kind, {}), **config.pop("strategy", {})}
    if any(name.startswith("keep_") for name in config.get("keep", {})):
        settings = {name: value for name, value in settings.items() if not name.startswith("keep_")}
    settings |= config.pop("keep", {})
    loaded = {
        "model": {"dialect": dialect},
        "counter": {"kind": "cjk_estimate"},
        "budget": {"soft_limit": budget},
        **config,
        "strategy": {"kind": kind, **settings},
    }
    result = ContextRuntime.load(loaded).assemble(made, hints)
    assert broken(made, result.request, dialect) == []
    return result


def tokens(made: Wire, dialect: str, counter: str | None = "cjk_estimate", model: str = "gpt-4o") -> int:
    """Count a body as it is; a counter of None is the model's own."""
    config = {"model": {"dialect": dialect}, "strategy": {"kind": "full_history"}}
    counted = {**config, "counter": {"kind": counter}} if counter else config
    return ContextRuntime.load(counted).assemble({**made, "model": model}).tokens_before


def broken(before: Wire, after: Wire, dialect: str) -> list[Violation]:
    """What a result violates that its input did not."""
    return new_violations(validate(before, dialect), validate(after, dialect))


def sent(result: Result, dialect: str) -> list[Wire]:
    """The conversation of a result, without its system part."""
    return dialect_named(dialect).split(result.request)[1]


def names(wires: Sequence[Wire], known: Sequence[str]) -> list[str]:
    """Which of the known texts each message has, in order; what has none of them is left out."""
    found = []
    for wire in wires:
        text = json.dumps(wire, ensure_ascii=False)
        found += [name for name in known if f'"{name}"' in text or f'"{name} ' in text]
    return found


def call_ids(wires: Sequence[Wire], dialect: str) -> tuple[list[str], list[str]]:
    """The ids of the calls and of the results in some messages."""
    read = [dialect_named(dialect).message(wire) for wire in wires]
    calls = [part.call_id for message in read for part in message.calls]
    return calls, [part.call_id for message in read for part in message.results]


def _system(dialect: str, text: str, made: Wire) -> Wire:
    if not text:
        return {}
    if dialect == "openai_chat":
        return {"messages": [{"role": "system", "content": text}, *made["messages"]]}
    if dialect == "gemini":
        return {"systemInstruction": {"parts": [{"text": text}]}}
    return {"system": text} if dialect == "anthropic" else {"instructions": text}


def _tools(dialect: str, names: Sequence[str]) -> list[Wire]:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    functions = [{"name": name, "description": f"what {name} does", "parameters": schema} for name in names]
    if dialect == "openai_chat":
        return [{"type": "function", "function": function} for function in functions]
    if dialect == "openai_responses":
        return [{"type": "function", **function} for function in functions]
    if dialect == "gemini":
        return [{"functionDeclarations": functions}]
    return [{"name": f["name"], "description": f["description"], "input_schema": schema} for f in functions]


def _openai_chat(event: Event) -> list[Wire]:
    if isinstance(event, Say):
        return [{"role": event.role, "content": event.text}]
    given = json.dumps(event.arguments or {})
    calls = [
        {"id": call_id, "type": "function", "function": {"name": event.name, "arguments": given}}
        for call_id in event.results
    ]
    reply: Wire = {"role": "assistant", "content": event.text or None, "tool_calls": calls}
    if event.thinking:
        reply["reasoning_content"] = event.thinking
    results = [
        {"role": "tool", "tool_call_id": call_id, "content": text}
        for call_id, text in event.results.items()
        if text is not None
    ]
    return [reply, *results]


def _openai_responses(event: Event) -> list[Wire]:
    if isinstance(event, Say):
        return [{"type": "message", "role": event.role, "content": event.text}]
    items: list[Wire] = []
    if event.thinking:
        summary = [{"type": "summary_text", "text": event.thinking}]
        items.append({"type": "reasoning", "id": f"rs_{next(iter(event.results))}", "summary": summary})
    if event.text:
        items.append({"type": "message", "role": "assistant", "content": event.text})
    given = json.dumps(event.arguments or {})
    items += [
        {"type": "function_call", "call_id": call_id, "name": event.name, "arguments": given}
        for call_id in event.results
    ]
    items += [
        {"type": "function_call_output", "call_id": call_id, "output": text}
        for call_id, text in event.results.items()
        if text is not None
    ]
    return items


def _anthropic(event: Event) -> list[Wire]:
    if isinstance(event, Say):
        return [{"role": event.role, "content": event.text}]
    blocks: list[Wire] = []
    if event.thinking:
        blocks.append({"type": "thinking", "thinking": event.thinking, "signature": "c2ln"})
    if event.text:
        blocks.append({"type": "text", "text": event.text})
    given = dict(event.arguments or {})
    blocks += [{"type": "tool_use", "id": call_id, "name": event.name, "input": given} for call_id in event.results]
    results = [
        {"type": "tool_result", "tool_use_id": call_id, "content": text}
        for call_id, text in event.results.items()
        if text is not None
    ]
    return [{"role": "assistant", "content": blocks}, *([{"role": "user", "content": results}] if results else [])]


def _gemini(event: Event) -> list[Wire]:
    if isinstance(event, Say):
        return [{"role": "model" if event.role == "assistant" else event.role, "parts": [{"text": event.text}]}]
    parts: list[Wire] = []
    if event.thinking:
        parts.append({"text": event.thinking, "thought": True})
    if event.text:
        parts.append({"text": event.text})
    given = dict(event.arguments or {})
    parts += [
        {"functionCall": {"id": call_id, "name": event.name, "args": given}, "thoughtSignature": "c2ln"}
        for call_id in event.results
    ]
    results = [
        {"functionResponse": {"id": call_id, "name": event.name, "response": {"output": text}}}
        for call_id, text in event.results.items()
        if text is not None
    ]
    return [{"role": "model", "parts": parts}, *([{"role": "user", "parts": results}] if results else [])]


_WRITERS = {
    "openai_chat": _openai_chat,
    "openai_responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
