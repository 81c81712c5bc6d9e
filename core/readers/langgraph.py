"""LangGraph threads: the state of one, its history of states, and the checkpoints that a store keeps.

A state holds all messages of its moment. With a history each call has the messages that its state held before the
reply, so what was removed or summarised shows; with one state alone the calls are inferred from its list. The system
prompt and the tools stand in the graph's code, never in its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..dialects import dialect
from ..transcript import Fidelity, Transcript
from ..wire import Wire, digest, dump
from . import langchain_messages
from .chat_wire import paired
from .fields import inner, text
from .formats import Format, Reading, share
from .items import Item
from .langchain import conversation
from .responses import ResponseFacts
from .runs import read_items
from .times import parse_time
from .trace_calls import NO_SYSTEM, NO_TOOLS


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are LangGraph's."""
    return 0.97 * share(values, lambda value: any(_state(one, "") is not None for one in _listed(value)))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield each thread."""
    threads: dict[str, list[_State]] = {}
    for record in reading.records:
        values = _listed(record.value)
        reading.report.counts.read += max(len(values) - 1, 0)
        if not values:
            reading.report.ignored()
        for number, value in enumerate(values, 1):
            place = ", ".join(filter(None, (record.place, f"state {number}" if len(values) > 1 else "")))
            state = _state(value, place)
            if state is None:
                expected = "A state with `values` or a checkpoint with `channel_values` was expected; it was left out."
                reading.report.broken("this is no state of LangGraph", expected, place=place)
            elif not state.messages:
                reading.report.ignored()
            else:
                reading.report.used()
                threads.setdefault(state.thread, []).append(state)
    for states in threads.values():
        yield from _thread(states, reading)


@dataclass(frozen=True, slots=True)
class _State:
    """One state of a thread, with what it followed."""

    place: str
    thread: str
    id: str
    parent: str
    at: datetime | None
    messages: tuple[Wire, ...]
    title: str = ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _state(value: Any, place: str) -> _State | None:
    if not isinstance(value, Mapping):
        return None
    stored = inner(value, "checkpoint") if "channel_values" in inner(value, "checkpoint") else value
    values = inner(stored, "channel_values") or inner(value, "values")
    marked = any(
        key in value for key in ("checkpoint", "checkpoint_id", "parent_checkpoint", "config", "next", "versions_seen")
    )
    if (
        not marked
        or not isinstance(values.get("messages", []), list)
        or not ("values" in value or "channel_values" in stored)
    ):
        return None
    own = inner(value, "config", "configurable") or inner(value, "checkpoint")
    parent = inner(value, "parent_config", "configurable") or inner(value, "parent_checkpoint")
    kept = [one for one in values.get("messages", []) if langchain_messages.is_message(one)]
    return _State(
        place=place,
        thread=text(own, "thread_id") or text(inner(value, "metadata"), "thread_id") or text(value, "thread_id"),
        id=text(own, "checkpoint_id") or text(value, "checkpoint_id") or text(stored, "id"),
        parent=text(parent, "checkpoint_id") or text(value, "parent_checkpoint_id"),
        at=parse_time(value.get("created_at") or stored.get("ts")),
        messages=tuple(one for one in kept if langchain_messages.role_of(one) != "remove"),
        title=text(values, "title"),
    )


def _thread(states: list[_State], reading: Reading) -> Iterator[Transcript]:
    if len(states) == 1:
        (state,) = states
        yield conversation(state.messages, reading, state.place, state.thread, state.title, {"checkpoint": state.id})
    else:
        yield from read_items(reading, _calls(_in_order(states)))


def _in_order(states: list[_State]) -> list[_State]:
    """Return states by time, else by their ids, which grow with time; a history is written newest first."""
    if all(state.at is not None for state in states):
        return sorted(states, key=lambda state: (state.at.timestamp() if state.at else 0.0, state.id))
    return sorted(states, key=lambda state: state.id)


def _calls(states: list[_State]) -> Iterator[Item]:
    """Yield a call for each reply that a state holds and the one before it did not."""
    by_id = {state.id: state for state in states if state.id}
    told = any(langchain_messages.is_answered(one) for state in states for one in state.messages)
    before: _State | None = None
    known: dict[str, set[bytes]] = {}
    for state in states:
        parent = by_id.get(state.parent) if state.parent else before
        seen = known.get(parent.id, set()) if parent is not None else set()
        known[state.id] = {_key(one) for one in state.messages} | seen
        wires = paired(langchain_messages.to_chat(one) for one in state.messages)
        for number, (one, wire) in enumerate(zip(state.messages, wires, strict=True)):
            made = wire["role"] == "assistant" and (langchain_messages.is_answered(one) or not told)
            if made and _key(one) not in seen:
                yield _call(state, one, wires[:number], wire)
        before = state


def _key(one: Wire) -> bytes:
    plain = langchain_messages.plain(one)
    return digest(text(plain, "id") or dump(langchain_messages.to_chat(one)))


def _call(state: _State, one: Wire, prompt: list[Wire], reply: Wire) -> Item:
    model, usage = langchain_messages.model_of(one), langchain_messages.usage_of(one)
    body = {**({"model": model} if model else {}), "messages": prompt}
    head, _ = dialect("openai_chat").split(body)
    called = any(wire.get("tool_calls") for wire in (*prompt, reply))
    notes = [*([] if head["messages"] else [NO_SYSTEM]), *([NO_TOOLS] if called else [])]
    return Item(
        place=state.place,
        dialect="openai_chat",
        body=body,
        facts=ResponseFacts(reply, usage, model, state.at, "openai_chat"),
        logged=True,
        session=state.thread,
        at=state.at,
        numbers=range(1, len(prompt) + 1),
        fidelity=Fidelity.PARTIAL if notes else Fidelity.RECONSTRUCTED,
        notes=notes,
    )


FORMAT = Format("langgraph", "LangGraph threads and checkpoints", sniff, read)
