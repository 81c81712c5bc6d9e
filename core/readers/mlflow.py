"""MLflow traces, versions 2 and 3, as its service, its files and its data frames give them.

The attributes of a span are JSON in texts. A chat model's span holds the messages of question and answer in one list
(`mlflow.chat.messages`), else what its function was given and gave back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from .chat_wire import decoded
from .fields import inner, objects, text
from .figures import figure
from .formats import Format, Reading, share
from .genai_attributes import model_in, usage_in
from .open_traces import read_traces
from .otel_spans import attributes_of
from .prompts import Loose, prompt_of
from .recorded_replies import reply_of
from .responses import response_facts
from .times import parse_time
from .trace_calls import Recorded
from .trace_tree import Node, Tree, Weight

CALLS = frozenset(["CHAT_MODEL", "LLM"])
LOOKED_FOR = "Spans of the types CHAT_MODEL and LLM were looked for."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are MLflow's."""
    return 0.98 * share(values, lambda value: any(map(_is_trace, _listed(value))))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations that the traces of a file hold."""
    return read_traces(reading, _spans(reading), _calls, LOOKED_FOR)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Mapping) and isinstance(value.get("traces"), list):
        return list(value["traces"])
    return value if isinstance(value, list) else [value]


def _is_trace(value: Any) -> bool:
    return any(_is_span(span) for span in _span_list(value))


def _span_list(value: Any) -> list[Wire]:
    data = inner({"data": decoded(value.get("data"))}, "data") if isinstance(value, Mapping) else {}
    return objects(data, "spans") or objects({"spans": decoded(inner({"v": value}, "v").get("spans"))}, "spans")


def _is_span(span: Wire) -> bool:
    return any(isinstance(key, str) and key.startswith("mlflow.") for key in attributes_of(span.get("attributes")))


def _spans(reading: Reading) -> Iterator[tuple[str, tuple[str, Wire, Wire]]]:
    for record in reading.records:
        values = _listed(record.value)
        reading.report.counts.read += max(len(values) - 1, 0)
        if not values:
            reading.report.ignored()
        for number, value in enumerate(values, 1):
            place = ", ".join(filter(None, (record.place, f"trace {number}" if len(values) > 1 else "")))
            found = _span_list(value)
            if not found:
                expected = "A trace with `info` and `data.spans` was expected; it was left out."
                reading.report.broken("this is no trace of MLflow", expected, place=place)
            reading.report.counts.read += max(len(found) - 1, 0)
            info = inner(value, "info") or (value if isinstance(value, Mapping) else {})
            for at, span in enumerate(found, 1):
                within = ", ".join(filter(None, (place, f"span {at}")))
                yield _trace(info, span), (within, span, info)


def _trace(info: Wire, span: Wire) -> str:
    return text(info, "trace_id", "request_id", "client_request_id") or text(_context(span), "trace_id")


def _context(span: Wire) -> Wire:
    return inner(span, "context") or span


def _calls(spans: list[tuple[str, Wire, Wire]]) -> list[Recorded]:
    infos = {id(span): info for _, span, info in spans}
    tree = Tree(_node(place, span) for place, span, _ in spans)
    return [_recorded(infos[id(node.value)], node, tree) for node in tree.calls()]


def _attributes(span: Wire) -> dict[str, Any]:
    return {key: decoded(value) for key, value in attributes_of(span.get("attributes")).items()}


def _node(place: str, span: Wire) -> Node:
    kind = text(_attributes(span), "mlflow.spanType")
    return Node(
        id=text(_context(span), "span_id") or place,
        parent=text(span, "parent_span_id", "parent_id"),
        name=text(span, "name"),
        weight=Weight.CALL if kind in CALLS else Weight.NONE,
        agent=text(span, "name") if kind == "AGENT" else "",
        start=parse_time(span.get("start_time_unix_nano", span.get("start_time_ns", span.get("start_time")))),
        place=place,
        value=span,
    )


def _recorded(info: Wire, node: Node, tree: Tree) -> Recorded:
    attributes = _attributes(node.value)
    given, answered = attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs")
    facts = response_facts(answered)
    prompt, reply = prompt_of(given), reply_of(answered)
    if prompt is None:
        prompt, reply = _of_chat(attributes.get("mlflow.chat.messages"), reply)
    model = facts.model or text(attributes, "mlflow.llm.model", "mlflow.chat.model") or model_in(attributes)
    return Recorded(
        place=node.place,
        prompt=prompt,
        reply=reply,
        tools=attributes.get("mlflow.chat.tools"),
        model=model or text(prompt.rest if prompt else {}, "model") or None,
        usage=_usage(attributes, facts.usage),
        at=node.start,
        session=_session(info) or _trace(info, node.value),
        agent=tree.agent(node),
        scope=node.parent,
        meta={"trace": _trace(info, node.value)},
    )


def _of_chat(messages: Any, reply: Loose | None) -> tuple[Loose | None, Loose | None]:
    """Return question and answer of a list that holds both: what stands behind the last question is the answer."""
    loose = prompt_of(messages)
    if loose is None:
        return None, reply
    last = len(loose.messages)
    while last and text(loose.messages[last - 1], "role") == "assistant":
        last -= 1
    return Loose(loose.messages[:last]), reply or Loose(loose.messages[last:])


def _usage(attributes: Mapping[str, Any], own: Usage) -> Usage:
    told = inner(attributes, "mlflow.chat.tokenUsage")
    if not told:
        return own if own.input is not None else usage_in(attributes)
    read, written = figure(told.get("cache_read_input_tokens")), figure(told.get("cache_creation_input_tokens"))
    given = figure(told.get("input_tokens"))
    return Usage(given if own.input is None else own.input, read, written, figure(told.get("output_tokens")))


def _session(info: Wire) -> str:
    for key in ("trace_metadata", "request_metadata", "tags"):
        if found := text(inner({"told": decoded(info.get(key))}, "told"), "mlflow.trace.session", "session_id"):
            return found
    return ""


FORMAT = Format("mlflow", "MLflow traces", sniff, read)
