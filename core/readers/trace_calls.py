"""Calls to a model as tracing platforms record them, as exchanges that make up transcripts.

A platform records what its instrumentation saw of a call, not the request that was sent: where the system prompt or
the tools are not in it, they may have been sent all the same, so such a call is partial. The dialect is decided for
all calls of a session at once, as a first question looks alike in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..dialects import dialect
from ..transcript import Fidelity, Usage
from ..wire import Wire, dump
from .chat_wire import merged, paired
from .exchanges import thread_of
from .figures import count
from .genai_parts import system_texts
from .items import Item
from .prompts import ANTHROPIC, CHAT, GEMINI, RESPONSES, Loose, chosen, evidence, spoken
from .responses import ResponseFacts, reply_of_items
from .shapes import LISTS
from .tool_definitions import tools_of

NO_SYSTEM = "system prompt not recorded"
NO_TOOLS = "tool definitions not recorded"
NO_PROMPT = "prompt not recorded"
CUT = "recorded prompt already truncated"
NO_CACHE = "the reported input leaves out cached tokens and does not say how many, so it is unknown"

CHARACTERS = 8
"""A text of this many characters for each reported token is at least twice as long as what was reported."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call as it was recorded."""

    place: str
    prompt: Loose | None = None
    reply: Loose | None = None
    tools: Any = None
    system: Sequence[str] = ()
    model: str | None = None
    usage: Usage = Usage()
    at: datetime | None = None
    session: str = ""
    agent: str = ""
    """The agent that made the call, where the trace tells it."""
    scope: str = ""
    """The span around it, within which one call follows another."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else the request held, in the words of the recording."""
    notes: Sequence[str] = ()
    records: int = 1
    """How many records of the file it was put together from."""
    meta: Mapping[str, Any] = field(default_factory=dict)


def items_of(calls: Sequence[Recorded]) -> Iterator[Item]:
    """Yield calls as exchanges, session by session, within each by time."""
    sessions: dict[str, list[Recorded]] = {}
    for call in sorted(calls, key=_time):
        sessions.setdefault(call.session, []).append(call)
    ordered = [call for group in sessions.values() for call in group]
    found = [_found(call) for call in ordered]
    by_session: dict[str, set[str]] = {}
    for call, seen in zip(ordered, found, strict=True):
        by_session.setdefault(call.session, set()).update(seen)
    items = []
    for call, seen in zip(ordered, found, strict=True):
        session = by_session[call.session]
        items.append(_item(call, chosen(session) if len(session) == 1 else chosen(seen)))
    yield from _with_true_input(items)


def _time(call: Recorded) -> float:
    return call.at.timestamp() if call.at is not None else 0.0


def _found(call: Recorded) -> set[str]:
    """Return what a call's messages say about its dialect."""
    prompt, reply = call.prompt or Loose([]), call.reply or Loose([])
    by_key = {GEMINI} if {"systemInstruction", "generationConfig"} & prompt.rest.keys() else set()
    by_key |= {RESPONSES} if "instructions" in prompt.rest else set()
    by_key |= {ANTHROPIC} if prompt.whole and "system" in prompt.rest else set()
    return evidence([*prompt.messages, *reply.messages]) | by_key


def _item(call: Recorded, name: str) -> Item:
    prompt, reply = call.prompt or Loose([]), call.reply or Loose([])
    said = spoken(prompt.messages, name)
    tools = tools_of(prompt.rest.get("tools") or call.tools or said.tools, name)
    system = [*call.system, *said.system]
    if name == CHAT and "system" in prompt.rest:
        system += system_texts(prompt.rest["system"])
        prompt = replace(prompt, rest={key: value for key, value in prompt.rest.items() if key != "system"})
    body = _body(call, prompt, said.messages, tools, system, name)
    response = _reply(reply, said.messages, name)
    missing = _missing(body, said.messages, response, bool(tools), prompt.whole, name)
    added = bool(call.system) or (bool(tools) and "tools" not in prompt.rest)
    exact = prompt.whole and not said.converted and not added
    partial = bool(missing) or not said.messages
    notes = [*call.notes, *([NO_PROMPT] if not said.messages else missing)]
    return Item(
        place=call.place,
        dialect=name,
        body=body,
        facts=ResponseFacts(response, call.usage, call.model, call.at, name),
        logged=True,
        session=call.session,
        at=call.at,
        numbers=range(1, len(body[LISTS[name]]) + 1),
        thread=thread_of(name, body),
        fidelity=Fidelity.PARTIAL if partial else Fidelity.CAPTURED if exact else Fidelity.RECONSTRUCTED,
        notes=notes,
        meta={**call.meta, **({"agent": call.agent} if call.agent else {})},
    )


def _body(
    call: Recorded, prompt: Loose, messages: Sequence[Wire], tools: Sequence[Wire], system: Sequence[str], name: str
) -> dict[str, Any]:
    """Return the request body; what it held is kept in its order, what was recorded beside it is added."""
    own = LISTS[name]
    lists = {key for key in LISTS.values() if key != own}
    body: dict[str, Any] = {key: value for key, value in prompt.rest.items() if key not in lists}
    if call.model and "model" not in body:
        body = {"model": call.model, **body}
    body |= {key: value for key, value in call.settings.items() if key not in body}
    if system and name == CHAT:
        known = [message.get("content") for message in messages if message.get("role") == "system"]
        lead = [{"role": "system", "content": text} for text in system if text not in known]
        messages = [*lead, *messages]
    elif system:
        body |= {key: value for key, value in _system(system, name).items() if not body.get(key)}
    body |= {own: list(messages), "tools": list(tools)}
    return body if tools else {key: value for key, value in body.items() if key != "tools"}


def _system(texts: Sequence[str], name: str) -> dict[str, Any]:
    if name == GEMINI:
        return {"systemInstruction": {"parts": [{"text": text} for text in texts]}}
    return {"instructions" if name == RESPONSES else "system": "\n\n".join(texts)}


def _reply(reply: Loose, prompt: Sequence[Wire], name: str) -> Wire | None:
    said = spoken(reply.messages, name).messages
    if name == RESPONSES:
        return reply_of_items([item for item in said if item.get("type") != "function_call_output"])
    if name == CHAT:
        one = merged([message for message in said if message.get("role") not in ("tool", "user", "system")])
        return None if one is None else paired([*prompt, one])[-1]
    if name == GEMINI and len(said) > 1:
        return {"role": "model", "parts": [part for one in said for part in one.get("parts") or ()]}
    return said[-1] if said else None


def _missing(
    body: Wire, messages: Sequence[Wire], response: Wire | None, has_tools: bool, whole: bool, name: str
) -> list[str]:
    """Return what the recording leaves out: tools that were called, a system prompt where it says nothing of any."""
    known = dialect(name)
    head, _ = known.split(body)
    said = [*messages, *([response] if response is not None else [])]
    called = any(known.message(wire).calls for wire in said)
    system = any(known.system_texts(head)) or any(known.message(wire).role == "system" for wire in messages)
    without_system = [] if system or whole else [NO_SYSTEM]
    return [*without_system, *([NO_TOOLS] if called and not has_tools else [])]


def _with_true_input(items: Sequence[Item]) -> Iterator[Item]:
    """Take a reported input that leaves out cached tokens for unknown: it is far less than what stands in the prompt.

    Where one call of an agent reports so, the others do too.
    """
    told = {(item.session, item.thread) for item in items if _leaves_out_cache(item)}
    for item in items:
        usage = item.facts.usage if item.facts else Usage()
        if (item.session, item.thread) in told and count(usage.input) is not None and not usage.cache_read:
            assert item.facts is not None
            facts = replace(item.facts, usage=replace(usage, input=None))
            yield replace(item, facts=facts, notes=[*item.notes, NO_CACHE])
        else:
            yield item


def _leaves_out_cache(item: Item) -> bool:
    usage = item.facts.usage if item.facts else Usage()
    given = count(usage.input)
    if given is None or usage.cache_read or usage.cache_write or item.body is None:
        return False
    body = {key: item.body[key] for key in item.body if key not in ("model", "tools")}
    return len(dump(body)) > CHARACTERS * given + 200
