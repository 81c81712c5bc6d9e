"""Langfuse: traces with their observations, as its interface and its service export them.

A generation is a call to a model; generations around others are summaries of theirs. Input, output and metadata are
JSON, or texts that hold JSON, encoded once or twice. `usageDetails.input` leaves out cached tokens for some providers
and not for others: the total decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from .chat_wire import decoded
from .fields import inner, objects, text
from .figures import figure
from .formats import Format, Reading, share
from .genai_attributes import tools_in
from .open_traces import read_traces
from .prompts import Loose, prompt_of
from .recorded_replies import reply_of
from .responses import response_facts
from .times import parse_time
from .trace_calls import Recorded
from .trace_chain import ToolRun, with_prompts
from .trace_tree import Node, Tree, Weight

TYPES = frozenset(
    ["SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"]
)
READ = ("cache_read_input_tokens", "input_cache_read", "input_cached_tokens", "cached_tokens", "prompt_details.cached")
WRITTEN = ("cache_creation_input_tokens", "input_cache_creation", "cache_write_tokens", "input_cache_write")
REASONING = ("output_reasoning_tokens", "output_reasoning", "completion_details.reasoning", "reasoning_tokens")
SESSIONS = ("thread_id", "session_id", "gen_ai.conversation.id", "langsmith.metadata.session_id", "session.id")


LOOKED_FOR = "Observations of the type GENERATION were looked for."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are Langfuse's."""
    return 0.97 * share(values, lambda value: any(map(_is_own, value if isinstance(value, list) else [value])))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations that the traces of a file hold."""
    return read_traces(reading, _spans(reading), _calls, LOOKED_FOR)


@dataclass(frozen=True, slots=True)
class _Seen:
    """One observation, with where it stands and what its trace says."""

    place: str
    one: Wire
    trace: Wire


def _spans(reading: Reading) -> Iterator[tuple[str, _Seen]]:
    """Yield the observations of traces, and those that come one a record."""
    for record in reading.records:
        values = record.value if isinstance(record.value, list) else [record.value]
        reading.report.counts.read += max(len(values) - 1, 0)
        if not values:
            reading.report.ignored()
        for number, value in enumerate(values, 1):
            place = ", ".join(filter(None, (record.place, f"item {number}" if len(values) > 1 else "")))
            yield from _one(reading, value, place)


def _one(reading: Reading, value: Any, place: str) -> Iterator[tuple[str, _Seen]]:
    if _is_observation(value):
        yield text(value, "traceId", "trace_id"), _Seen(place, value, {})
        return
    found = _observations(value)
    if not found and not _is_trace(value):
        expected = "A trace with `observations`, or an observation, was expected; it was left out."
        reading.report.broken("this is no record of Langfuse", expected, place=place)
    elif not found:
        reading.report.ignored()
    reading.report.counts.read += max(len(found) - 1, 0)
    trace = inner(value, "trace") or (value if isinstance(value, Mapping) else {})
    for number, one in enumerate(found, 1):
        within = ", ".join(filter(None, (place, f"observation {number}")))
        yield text(one, "traceId", "trace_id"), _Seen(within, one, trace)


def _is_own(value: Any) -> bool:
    return bool(_observations(value)) or _is_trace(value)


def _is_trace(value: Any) -> bool:
    trace = inner(value, "trace")
    return bool(trace) and "observations" in value


def _observations(value: Any) -> list[Wire]:
    if _is_observation(value):
        return [value]
    found = objects(value, "observations") or objects(inner(value, "trace"), "observations")
    return [one for one in found if _is_observation(one)]


def _is_observation(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, Mapping) else None
    return isinstance(kind, str) and kind.upper() in TYPES and ("traceId" in value or "trace_id" in value)


def _calls(seen: list[_Seen]) -> list[Recorded]:
    merged: dict[str, _Seen] = {}
    for one in seen:
        name = text(one.one, "id") or one.place
        known = merged.get(name, one)
        filled = {key: value for key, value in one.one.items() if value is not None}
        merged[name] = _Seen(known.place, {**known.one, **filled}, one.trace or known.trace)
    nodes = [_node(one.one, one.place) for one in merged.values()]
    traces = {id(one.one): one.trace for one in merged.values()}
    tree = Tree(nodes)
    number = Counter(text(one.one, "id") or one.place for one in seen)
    found = [_recorded(traces[id(node.value)], node, tree) for node in tree.calls()]
    recorded = [replace(call, records=number[node.id]) for call, node in zip(found, tree.calls(), strict=True)]
    return with_prompts(recorded, [_tool_run(node) for node in nodes if _kind(node.value) == "TOOL"])


def _node(one: Wire, place: str) -> Node:
    kind = _kind(one)
    attributes = _attributes(one)
    agent = text(one, "name") if kind == "AGENT" else text(attributes, "gen_ai.agent.name", "agent_name")
    says = kind == "GENERATION" and (
        _usage(one) != Usage() or one.get("input") is not None or one.get("output") is not None
    )
    return Node(
        id=text(one, "id") or place,
        parent=text(one, "parentObservationId", "parent_observation_id"),
        name=text(one, "name"),
        weight=Weight.CALL if says else Weight.NONE,
        agent=agent,
        start=parse_time(one.get("startTime") or one.get("start_time")),
        place=place,
        value=one,
    )


def _recorded(trace: Wire, node: Node, tree: Tree) -> Recorded:
    one = node.value
    reply = decoded(one.get("output"))
    prompt = prompt_of(one.get("input"))
    around = (_tools(above.value) for above in tree.above(node) if _kind(above.value) == "AGENT")
    tools, instructions = _tools(one) or next(filter(None, around), None), None
    if isinstance(reply, Mapping) and reply.get("object") == "response":
        tools, instructions = tools or reply.get("tools"), reply.get("instructions")
    if isinstance(instructions, str) and instructions and prompt is not None:
        prompt = Loose(prompt.messages, {"instructions": instructions, **prompt.rest}, whole=True)
    return Recorded(
        place=node.place,
        prompt=prompt,
        reply=reply_of(reply),
        tools=tools,
        system=_system(node, tree),
        model=text(one, "model", "providedModelName", "provided_model_name", "internalModel") or None,
        usage=_reported(one, reply),
        at=node.start,
        session=_session(trace, node, tree) or text(one, "traceId", "trace_id"),
        agent=tree.agent(node),
        scope=node.parent,
        meta={"trace": text(one, "traceId", "trace_id"), **_named(trace)},
    )


def _named(trace: Wire) -> dict[str, str]:
    return {"trace_name": text(trace, "name")} if text(trace, "name") else {}


def _system(node: Node, tree: Tree) -> list[str]:
    """Return the system prompt that a span around the call was given beside its question."""
    for above in tree.above(node):
        given = decoded(above.value.get("input"))
        if isinstance(given, Mapping) and isinstance(given.get("system"), str) and "prompt" in given:
            return [given["system"]] if given["system"] else []
    return []


def _tools(one: Wire) -> Any:
    listed = decoded(one.get("toolDefinitions"))
    if isinstance(listed, Mapping) and listed:
        pairs = ((name, decoded(definition)) for name, definition in listed.items())
        return [{"name": name, **(made if isinstance(made, Mapping) else {})} for name, made in pairs]
    metadata = inner({"metadata": decoded(one.get("metadata"))}, "metadata")
    return listed or tools_in(_attributes(one)) or decoded(metadata.get("tools"))


def _attributes(one: Wire) -> Wire:
    metadata = inner({"metadata": decoded(one.get("metadata"))}, "metadata")
    return inner({"attributes": decoded(metadata.get("attributes"))}, "attributes")


def _session(trace: Wire, node: Node, tree: Tree) -> str:
    """Return the session: what the trace names, else what the observation or one around it does."""
    if named := text(trace, "sessionId", "session_id"):
        return named
    for one in (node.value, *(above.value for above in tree.above(node))):
        metadata = inner({"metadata": decoded(one.get("metadata"))}, "metadata")
        own = text(one, "sessionId", "session_id") or text(metadata, *SESSIONS) or text(_attributes(one), *SESSIONS)
        if own:
            return own
    return ""


def _kind(one: Wire) -> str:
    return text(one, "type").upper()


def _reported(one: Wire, reply: Any) -> Usage:
    """Return the usage that the provider's own response holds, else the platform's figures."""
    own = response_facts(reply).usage
    return own if own.input is not None else _usage(one)


def _usage(one: Wire) -> Usage:
    details = inner({"usage": decoded(one.get("usageDetails") or one.get("usage_details"))}, "usage")
    details = details or inner(one, "usage")
    given = _first(details, "input", "prompt_tokens", "input_tokens", "promptTokens")
    given = figure(one.get("promptTokens")) if given is None and figure(one.get("promptTokens")) else given
    answered = _first(details, "output", "completion_tokens", "output_tokens", "completionTokens")
    answered = (
        figure(one.get("completionTokens")) if answered is None and figure(one.get("completionTokens")) else answered
    )
    read, written = _first(details, *READ), _first(details, *WRITTEN)
    thought = _first(details, *REASONING)
    whole, all_out = _with_parts(details, given, answered, read, written, thought)
    return Usage(whole, read, written, all_out, thought)


def _with_parts(
    details: Wire, given: int | None, answered: int | None, read: int | None, written: int | None, thought: int | None
) -> tuple[int | None, int | None]:
    """Return input and output with the parts that they leave out, as far as the total shows that they do."""
    total = _first(details, "total", "total_tokens", "totalTokens")
    cached, thoughts = (read or 0) + (written or 0), thought or 0
    if given is None or total is None:
        return given if given is None or cached <= given else given + cached, answered
    out = answered or 0
    for add_in, add_out in ((0, 0), (cached, 0), (0, thoughts), (cached, thoughts)):
        if given + add_in + out + add_out == total:
            return given + add_in, None if answered is None else out + add_out
    return given if cached <= given else given + cached, answered


def _first(details: Wire, *keys: str) -> int | None:
    return next((number for key in keys if (number := figure(details.get(key))) is not None), None)


def _tool_run(node: Node) -> ToolRun:
    one = node.value
    given = decoded(one.get("input"))
    given = given["input"] if isinstance(given, Mapping) and given.keys() == {"input"} else given
    return ToolRun(
        scope=node.parent,
        name=node.name,
        arguments=given,
        output=decoded(one.get("output")),
        call_id=text(_attributes(one), "gen_ai.tool.call.id", "tool_call_id"),
        ended=parse_time(one.get("endTime") or one.get("end_time")),
    )


FORMAT = Format("langfuse", "Langfuse traces", sniff, read)
