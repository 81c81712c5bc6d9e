"""Harbor trajectories (ATIF): `{"schema_version": "ATIF-v1.x", "agent", "steps"}`.

A step of the agent is a call with its results beside it. Steps that were copied from an earlier trajectory are context
and no calls, nor are steps for which the agent asked no model. Metrics are those of the provider, cached tokens
included. A step that tells of a compaction puts its result in the place of the steps it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import ROOT, Fidelity, Transcript, Usage
from ..wire import Wire, text_of
from .chat_wire import assistant, call, image, result, slim, text_part
from .event_log import EventLog, Position
from .fields import inner, listed, objects, text
from .figures import count, figure
from .formats import Format, Reading, share
from .rows import read_rows, sample_rows, within
from .times import parse_time
from .tool_definitions import tools_of

EXPECTED = "A trajectory with `schema_version` and `steps` was expected."
REFERENCES = ("continued_trajectory_ref", "final_metrics", "notes")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are Harbor trajectories."""
    return 0.97 * share(sample_rows(values), _is_trajectory)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a trajectory, those of its sub-agents after it where they are inside."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str, parent: str = "") -> Iterator[Transcript]:
    agent, session = inner(row, "agent"), text(row, "trajectory_id", "session_id")
    tools = tools_of(agent.get("tool_definitions"), "openai_chat")
    log = EventLog("openai_chat", reading, {"tools": tools} if tools else {})
    steps = [(number, step) for number, step in enumerate(listed(row, "steps"), 1) if isinstance(step, Mapping)]
    log.may_have_tools = bool(tools) or any(objects(step, "tool_calls") for _, step in steps)
    references: list[Any] = []
    before: dict[int, Position] = {}
    for number, step in steps:
        before[number] = log.at
        if _is_compaction(step):
            _compact(log, step, before)
        else:
            _step(log, step, text(agent, "model_name"), within(place, f"step {number}"))
        references += [one for told in _results(step) for one in _as_list(told.get("subagent_trajectory_ref"))]
    if len(steps) < len(listed(row, "steps")):
        reading.report.add("a step is no object", "It was left out.", place=place)
    if log.builder.messages:
        meta = {key: row[key] for key in REFERENCES if row.get(key)}
        meta |= {"agent": text(agent, "name"), "agent_version": text(agent, "version"), "subagents": references}
        meta |= {"parent_session": parent}
        yield log.transcript(session=session, meta={key: value for key, value in meta.items() if value})
    for number, child in enumerate(objects(row, "subagent_trajectories"), 1):
        yield from _read_row(reading, child, within(place, f"sub-agent {number}"), session)


def _step(log: EventLog, step: Wire, model: str, place: str) -> None:
    source, said, at = text(step, "source"), _content(step.get("message")), parse_time(step.get("timestamp"))
    log.started = log.started or at
    if source not in ("system", "user", "agent"):
        log.reading.report.add(f"the source {source[:40]!r} is not known", "The step was left out.", place=place)
        return
    if source != "agent":
        log.say({"role": source, "content": said}, place)
    else:
        asked = objects(step, "tool_calls")
        calls = [call(one.get("function_name"), one.get("arguments"), one.get("tool_call_id")) for one in asked]
        wire = assistant(said, calls, text(step, "reasoning_content"))
        if step.get("is_copied_context") is True or step.get("llm_call_count") == 0:
            log.say(wire, place)
        else:
            name = text(step, "model_name") or model
            log.reply([wire], place, usage=_usage(step), model=name, at=at, fidelity=_fidelity(log))
    _observe(log, step, place)


def _is_compaction(step: Wire) -> bool:
    return text(inner(step, "extra", "context_management"), "type") == "compaction"


def _compact(log: EventLog, step: Wire, before: dict[int, Position]) -> None:
    """Begin the window anew with what stood before the steps that were compacted, and with what replaces them."""
    first = count(inner(step, "extra", "compaction", "steps_compacted").get("first_step_id"))
    kept = log.builder.path(before[first].sent if first in before else ROOT)
    said = [_content(told.get("content")) for told in _results(step) if told.get("content")] or [text(step, "message")]
    wires = [log.builder.messages[node] for node in kept]
    log.compact([*wires, *({"role": "user", "content": one} for one in said if one)])


def _observe(log: EventLog, step: Wire, place: str) -> None:
    """Add the results of a step; one that answers no call was told to the agent as a message."""
    open_calls = [text(one, "tool_call_id") for one in objects(step, "tool_calls")]
    for told in _results(step):
        call_id, said = text(told, "source_call_id"), _content(told.get("content"))
        if not call_id and len(open_calls) == 1 and len(objects(step, "tool_calls")) == 1:
            call_id = open_calls[0]
        open_calls = [one for one in open_calls if one != call_id]
        log.say(result(said, call_id) if call_id else {"role": "user", "content": said}, place)


def _fidelity(log: EventLog) -> Fidelity:
    whole = log.at.lead and (log.settings.get("tools") or not log.may_have_tools)
    return Fidelity.RECONSTRUCTED if whole else Fidelity.PARTIAL


def _results(step: Wire) -> list[Wire]:
    return objects(inner(step, "observation"), "results")


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return text_of(content)
    parts: list[Any] = []
    for part in content:
        if text(part, "type") == "image":
            parts.append(image(text(inner(part, "source"), "path", "url", "data")))
        else:
            parts.append(text_part(part if isinstance(part, str) else text(part, "text")))
    return slim(parts)


def _usage(step: Wire) -> Usage:
    metrics = inner(step, "metrics")
    extra = inner(metrics, "extra")
    return Usage(
        input=figure(metrics.get("prompt_tokens")),
        cache_read=figure(metrics.get("cached_tokens")),
        cache_write=figure(extra.get("cache_creation_input_tokens")),
        output=figure(metrics.get("completion_tokens")),
        reasoning=figure(extra.get("reasoning_tokens")),
    )


def _is_trajectory(row: Any) -> bool:
    return isinstance(row, Mapping) and text(row, "schema_version").startswith("ATIF") and "steps" in row


FORMAT = Format("harbor_atif", "Harbor trajectories (ATIF)", sniff, read)
