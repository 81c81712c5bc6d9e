"""OpenTelemetry traces of calls to models: GenAI conventions, OpenInference, OpenLLMetry, Vercel AI SDK, Monocle.

A span says in its attributes what it is; content stands in attributes or in events. Content is recorded only where
that was switched on: a call without it has its usage and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..transcript import Transcript
from . import genai_events, monocle
from .fields import text
from .formats import Format, Reading, share
from .genai_attributes import (
    IN,
    OUT,
    model_in,
    prompt_in,
    reply_in,
    session_in,
    system_in,
    tools_in,
    usage_in,
)
from .open_traces import read_traces
from .otel_spans import Span, spans_of
from .prompts import Loose
from .trace_calls import CUT, Recorded
from .trace_tree import Node, Tree, Weight

OPERATIONS = frozenset(
    ["chat", "text_completion", "generate_content", "completion", "completions", "responses", "message"]
)
OTHERS = frozenset(["embeddings", "execute_tool", "create_agent", "retrieval", "rerank"])
CONTENT = (
    "gcp.vertex.agent.llm_re",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "llm.input_messages",
    "llm.output_messages",
    "llm.prompts",
    "ai.prompt",
    "ai.response.text",
    "ai.response.toolCalls",
)
LOOKED_FOR = (
    "Spans with gen_ai, llm (OpenInference), ai (Vercel AI SDK) or Monocle attributes of a model call were looked for."
)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are OpenTelemetry's."""
    return 0.96 * share(values, lambda value: bool(spans_of(value)))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations that the traces of a file hold."""
    return read_traces(reading, _spans(reading), _calls, LOOKED_FOR)


def _spans(reading: Reading) -> Iterator[tuple[str, tuple[str, Span]]]:
    for record in reading.records:
        found = spans_of(record.value)
        if found is None:
            expected = "Spans as OTLP or as an exporter prints them were expected; it was left out."
            reading.report.broken("this is no span of OpenTelemetry", expected, place=record.place)
            continue
        reading.report.counts.read += len(found) - 1
        alone = len(found) == 1
        for number, span in enumerate(found, 1):
            within = "" if alone else f"span {number}"
            place = ", ".join(part for part in (record.place, within) if part)
            yield span.trace or place, (place, span)


def _calls(spans: list[tuple[str, Span]]) -> list[Recorded]:
    tree = Tree(_node(place, span) for place, span in _with_logs(spans))
    return [_recorded(node, tree) for node in tree.calls()]


def _with_logs(spans: list[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Give the events that were logged apart to their spans; those of one span that is not there make one up."""
    found = {span.id or place: (place, span) for place, span in spans if not span.is_log}
    for place, log in spans:
        if log.is_log:
            _, known = found.get(log.id, (place, replace(log, events=(), is_log=False)))
            found[log.id or place] = (place if log.id not in found else found[log.id][0], known)
            merged = replace(known, events=(*known.events, *log.events))
            found[log.id or place] = (found[log.id or place][0], merged)
    return list(found.values())


def _node(place: str, span: Span) -> Node:
    span = genai_events.with_details(span)
    return Node(
        id=span.id or place,
        parent=span.parent,
        name=span.name,
        weight=_weight(span),
        agent=_agent(span),
        start=span.start,
        place=place,
        value=span,
    )


def _weight(span: Span) -> Weight:
    attributes = span.attributes
    if monocle.is_inference(span):
        return Weight.CALL if monocle.says_something(span) else Weight.NONE
    operation, kind = text(attributes, "gen_ai.operation.name"), text(attributes, "openinference.span.kind").upper()
    if operation in OTHERS or kind in ("TOOL", "RETRIEVER", "EMBEDDING", "RERANKER") or not _says_something(span):
        return Weight.NONE
    vercel = text(attributes, "ai.operationId")
    if vercel:
        return Weight.CALL if vercel.endswith((".doStream", ".doGenerate")) else Weight.SUMMARY
    if operation == "invoke_agent" or kind in ("AGENT", "CHAIN"):
        return Weight.SUMMARY
    modelled = operation in OPERATIONS or kind == "LLM" or model_in(attributes) is not None
    return Weight.CALL if modelled or genai_events.has_content(span) else Weight.NONE


def _says_something(span: Span) -> bool:
    told = any(key.startswith(CONTENT) or key in IN or key in OUT for key in span.attributes)
    return told or genai_events.has_content(span)


def _agent(span: Span) -> str:
    attributes = span.attributes
    if text(attributes, "gen_ai.operation.name") in ("invoke_agent", "create_agent"):
        return text(attributes, "gen_ai.agent.name") or span.name
    if text(attributes, "openinference.span.kind").upper() == "AGENT":
        return text(attributes, "agent.name", "graph.node.id") or span.name
    if text(attributes, "traceloop.span.kind") == "agent":
        return text(attributes, "traceloop.entity.name") or span.name
    return monocle.agent(span) or text(attributes, "gen_ai.agent.name")


def _recorded(node: Node, tree: Tree) -> Recorded:
    span: Span = node.value
    attributes = span.attributes
    above: list[Mapping[str, Any]] = [one.value.attributes for one in tree.above(node)]
    session = next((found for one in (attributes, *above) if (found := session_in(one))), "") or span.trace
    base = Recorded(
        place=node.place,
        model=model_in(attributes),
        usage=usage_in(attributes),
        at=span.start,
        session=session,
        agent=tree.agent(node),
        scope=node.parent,
        meta={"trace": span.trace} if span.trace else {},
    )
    if monocle.is_inference(span):
        return monocle.recorded(base, span)
    prompt = genai_events.prompt(span) or prompt_in(attributes)
    reply = genai_events.reply(span) or reply_in(attributes)
    system = system_in(attributes) or next(filter(None, map(system_in, above)), [])
    tools = tools_in(attributes) or next(filter(None, map(tools_in, above)), None)
    return replace(base, prompt=prompt, reply=reply, system=system, tools=tools, notes=_notes(prompt))


def _notes(prompt: Loose | None) -> list[str]:
    return [CUT] if prompt is not None and prompt.cut else []


FORMAT = Format("otel", "OpenTelemetry traces of calls to models", sniff, read)
