"""OpenTelemetry spans, however they were written down, in one form.

OTLP as JSON (also its log records), what the libraries' console exporters print, Jaeger's JSON, and attributes alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..wire import Wire
from .fields import inner, listed, objects, text
from .times import parse_time

DEEPEST = 50
NESTED = ("llm", "openinference", "session")
"""What attributes begin with that may be kept as objects instead of names with dots."""
TELLING = ("gen_ai.", "llm.", "openinference.", "ai.prompt", "ai.response", "ai.operationId", "traceloop.", "mlflow.")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a span tells of a moment."""

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """One span, or the log records of one whose span is elsewhere."""

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    start: datetime | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    is_log: bool = False


def spans_of(value: Any) -> list[Span] | None:
    """Return the spans of a record; None if it holds none of this kind."""
    if isinstance(value, list):
        found = [spans_of(one) for one in value]
        return [span for spans in found if spans for span in spans] if any(found) else None
    if not isinstance(value, Mapping):
        return None
    for outer, scopes, read in _LAYERS:
        if isinstance(value.get(outer), list):
            return [
                read(one)
                for resource in objects(value, outer)
                for scope in _scopes(resource)
                for one in objects(scope, scopes)
            ]
    if isinstance(value.get("data"), list) and any(listed(one, "spans") for one in value["data"]):
        return [_jaeger(span) for trace in objects(value, "data") for span in objects(trace, "spans")]
    return _alone(value)


def _alone(value: Wire) -> list[Span] | None:
    if "operationName" in value and isinstance(value.get("tags"), list):
        return [_jaeger(value)]
    if ("traceId" in value or "trace_id" in value) and isinstance(value.get("attributes"), list):
        return [_otlp(value)]
    if isinstance(value.get("attributes"), Mapping) and _is_span(value):
        return [_printed(value)]
    if any(isinstance(key, str) and key.startswith("attributes.") for key in value):
        return [_printed(_of_row(value))]
    if _tells(value):
        return [Span("", "", attributes=value)]
    return None


def _of_row(value: Wire) -> dict[str, Any]:
    """Return a row of a table of spans, whose columns are named `attributes.llm.model_name` and `context.span_id`."""
    columns = {key: told for key, told in value.items() if isinstance(key, str)}
    parted = {key: told for key, told in columns.items() if not key.startswith(("attributes.", "context."))}
    attributes = {key[11:]: told for key, told in columns.items() if key.startswith("attributes.") and told is not None}
    context = {key[8:]: told for key, told in columns.items() if key.startswith("context.")}
    return {**parted, "attributes": attributes, "context": context}


def attributes_of(value: Any) -> dict[str, Any]:
    """Return attributes as plain values, from OTLP's list of keys and typed values or from an object."""
    if isinstance(value, Mapping):
        return dict(pair for key, told in value.items() if isinstance(key, str) for pair in _flat(key, told))
    pairs = [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
    return {one["key"]: _plain(one.get("value")) for one in pairs if isinstance(one.get("key"), str)}


def _flat(key: str, told: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield an attribute by its whole name: Phoenix keeps `llm.input_messages` as objects within objects."""
    nested = key.partition(".")[0] in NESTED and depth < DEEPEST
    if nested and isinstance(told, Mapping) and told and not key.endswith("parameters"):
        for name, inner_value in told.items():
            yield from _flat(f"{key}.{name}", inner_value, depth + 1)
    elif nested and isinstance(told, list) and told and all(isinstance(one, Mapping) for one in told):
        for number, inner_value in enumerate(told):
            yield from _flat(f"{key}.{number}", inner_value, depth + 1)
    else:
        yield key, told


def _plain(value: Any, depth: int = 0) -> Any:
    """Return OTLP's typed value as a plain one; numbers come as texts."""
    if not isinstance(value, Mapping) or depth > DEEPEST:
        return value
    for kind, inner_value in value.items():
        name = kind.replace("_", "").lower() if isinstance(kind, str) else ""
        if name == "intvalue":
            return _integer(inner_value)
        if name == "arrayvalue":
            return [_plain(one, depth + 1) for one in listed(inner_value, "values")]
        if name == "kvlistvalue":
            pairs = objects(inner_value, "values")
            return {str(one.get("key")): _plain(one.get("value"), depth + 1) for one in pairs}
        if name in ("stringvalue", "doublevalue", "boolvalue", "bytesvalue"):
            return inner_value
    return None


def _integer(value: Any) -> Any:
    if isinstance(value, str) and len(value) < 20:
        try:
            return int(value)
        except ValueError:
            return value
    return value


def _otlp(one: Wire) -> Span:
    return Span(
        trace=text(one, "traceId", "trace_id"),
        id=text(one, "spanId", "span_id"),
        parent=text(one, "parentSpanId", "parent_span_id"),
        name=text(one, "name"),
        start=parse_time(one.get("startTimeUnixNano", one.get("start_time_unix_nano", one.get("start_time")))),
        attributes=attributes_of(one.get("attributes")),
        events=_events(one),
    )


def _log(one: Wire) -> Span:
    """Return a log record as a span with one event: records of the same span are put together later."""
    attributes = attributes_of(one.get("attributes"))
    body = _plain(one.get("body"))
    name = text(one, "eventName", "event_name") or text(attributes, "event.name")
    told = {**attributes, **(body if isinstance(body, Mapping) else {"body": body} if body is not None else {})}
    return Span(
        trace=text(one, "traceId", "trace_id"),
        id=text(one, "spanId", "span_id"),
        name=name,
        start=parse_time(one.get("timeUnixNano") or one.get("observedTimeUnixNano") or one.get("timestamp")),
        attributes={},
        events=(Event(name, told),),
        is_log=True,
    )


def _printed(one: Wire) -> Span:
    context = inner(one, "context") or inner(one, "spanContext") or one
    return Span(
        trace=text(context, "trace_id", "traceId"),
        id=text(context, "span_id", "spanId") or text(one, "id"),
        parent=text(one, "parent_id", "parentId", "parentSpanId", "parent_span_id")
        or text(inner(one, "parentSpanContext"), "spanId"),
        name=text(one, "name", "spanName", "span_name"),
        start=_start(one),
        attributes=attributes_of(one["attributes"]),
        events=_events(one),
    )


def _start(one: Wire) -> datetime | None:
    keys = ("start_time", "startTime", "startTimeUnixNano", "start_time_unix_nano", "timestamp")
    for key in keys:
        value = one.get(key)
        if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
            value = value[0] + value[1] / 1e9  # seconds and nanoseconds
        if (found := parse_time(value)) is not None:
            return found
    return None


def _jaeger(one: Wire) -> Span:
    tags = {str(tag.get("key")): tag.get("value") for tag in objects(one, "tags")}
    parents = [text(link, "spanID") for link in objects(one, "references") if link.get("refType") == "CHILD_OF"]
    logs = [attributes_of(_pairs(log)) for log in objects(one, "logs")]
    return Span(
        trace=text(one, "traceID"),
        id=text(one, "spanID"),
        parent=parents[0] if parents else text(one, "parentSpanID"),
        name=text(one, "operationName"),
        start=parse_time(one.get("startTime")),
        attributes=tags,
        events=tuple(Event(text(log, "event", "name"), log) for log in logs),
    )


def _pairs(log: Wire) -> dict[str, Any]:
    return {str(field_.get("key")): field_.get("value") for field_ in objects(log, "fields")}


def _events(one: Wire) -> tuple[Event, ...]:
    return tuple(Event(text(event, "name"), attributes_of(event.get("attributes"))) for event in objects(one, "events"))


def _scopes(resource: Wire) -> Iterator[Wire]:
    for key in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs"):
        yield from objects(resource, key)


def _is_span(value: Wire) -> bool:
    named = any(isinstance(value.get(key), str) for key in ("name", "spanName", "span_name"))
    placed = any(
        key in value
        for key in ("context", "spanContext", "trace_id", "traceId", "start_time", "startTime", "scopeName")
    )
    return (named and placed) or _tells(value["attributes"])


def _tells(attributes: Mapping[Any, Any]) -> bool:
    """Tell whether attributes speak of a model: keys with dots are no field names of any other format."""
    return any(isinstance(key, str) and key.startswith(TELLING) and "." in key for key in attributes)


_LAYERS = (
    ("resourceSpans", "spans", _otlp),
    ("resource_spans", "spans", _otlp),
    ("resourceLogs", "logRecords", _log),
    ("resource_logs", "log_records", _log),
)
