"""LangSmith runs: what its SDK sends (`post` and `patch` bodies), and lists or lines of runs.

A run of the type `llm` is a call to a model. A run is sent when it starts and again when it ends: the parts that have
one id are one run, and what is filled later stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from . import langchain_messages
from .chat_wire import decoded
from .fields import inner, listed, objects, text
from .figures import figure
from .formats import Format, Reading, share
from .open_traces import read_traces
from .prompts import prompt_of
from .recorded_replies import reply_of
from .responses import response_facts
from .times import parse_time
from .trace_calls import Recorded
from .trace_tree import Node, Tree, Weight

TYPES = frozenset(["llm", "chain", "tool", "retriever", "prompt", "parser", "embedding", "chat_model"])
SESSIONS = ("session_id", "thread_id", "conversation_id")
AGENTS = ("agent_name", "lc_agent_name", "langgraph_agent")
LOOKED_FOR = "Runs of the type llm were looked for."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are LangSmith's."""
    return 0.96 * share(values, lambda value: any(_is_run(run) for run in _parts(value)))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the conversations that the runs of a file hold."""
    return read_traces(reading, _runs(reading), _calls, LOOKED_FOR)


def _parts(value: Any) -> list[Any]:
    """Return the runs, whole or in part, that a record holds."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return []
    for key in ("post", "patch", "runs"):
        if isinstance(value.get(key), list):
            return [*listed(value, "post"), *listed(value, "patch"), *listed(value, "runs")]
    return [value, *_children(value)]


def _children(value: Wire) -> list[Wire]:
    """Return the runs inside a run that was exported with them."""
    found, open_runs = [], [value]
    while open_runs:
        below = objects(open_runs.pop(), "child_runs")
        found += below
        open_runs += below
    return found


def _is_run(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        return False
    placed = "trace_id" in value or "dotted_order" in value or "session_id" in value or "parent_run_id" in value
    typed = text(value, "run_type") in TYPES and ("inputs" in value or "start_time" in value)
    return (placed and ("outputs" in value or "inputs" in value or "run_type" in value)) or typed


def _runs(reading: Reading) -> Iterator[tuple[str, tuple[str, Wire]]]:
    """Yield each part of a run with its trace; a part says its trace, or is one of the run that the file began with."""
    for record in reading.records:
        parts = _parts(record.value)
        reading.report.counts.read += max(len(parts) - 1, 0)
        if not parts:
            expected = "A run, a list of runs, or `post` and `patch` were expected; it was left out."
            reading.report.broken("this is no run of LangSmith", expected, place=record.place)
        for number, run in enumerate(parts, 1):
            place = ", ".join(filter(None, (record.place, f"run {number}" if len(parts) > 1 else "")))
            if _is_run(run):
                yield text(run, "trace_id") or _root(run), (place, run)
            else:
                expected = "An object with `id` and `run_type` was expected; it was left out."
                reading.report.broken("this is no run of LangSmith", expected, place=place)


def _root(run: Wire) -> str:
    """Return the id of the outermost run, with which a dotted order begins."""
    first = text(run, "dotted_order").partition(".")[0]
    return first.partition("Z")[2] or text(run, "parent_run_id") or text(run, "id")


def _calls(parts: list[tuple[str, Wire]]) -> list[Recorded]:
    places: dict[str, str] = {}
    merged: dict[str, dict[str, Any]] = {}
    for place, part in parts:
        places.setdefault(part["id"], place)
        said = {key: value for key, value in part.items() if _says(value)}
        merged[part["id"]] = {**merged.get(part["id"], {}), **said}
    tree = Tree(_node(places[name], run) for name, run in merged.items())
    number = Counter(part["id"] for _, part in parts)
    return [replace(_recorded(node, tree), records=number[node.id]) for node in tree.calls()]


def _says(value: Any) -> bool:
    return value is not None and value != {} and value != []


def _node(place: str, run: Wire) -> Node:
    metadata = inner(run, "extra", "metadata")
    called = run.get("run_type") in ("llm", "chat_model")
    return Node(
        id=text(run, "id"),
        parent=text(run, "parent_run_id"),
        name=text(run, "name"),
        weight=Weight.CALL if called else Weight.NONE,
        agent=text(metadata, *AGENTS),
        start=parse_time(run.get("start_time")),
        place=place,
        value=run,
    )


def _recorded(node: Node, tree: Tree) -> Recorded:
    run: Wire = node.value
    metadata, asked = inner(run, "extra", "metadata"), inner(run, "extra", "invocation_params")
    reply = reply_of(run.get("outputs"))
    message = reply.messages[-1] if reply is not None else {}
    langchain = message if langchain_messages.is_message(message) else {}
    answered = langchain_messages.model_of(langchain) if langchain else None
    facts = response_facts(run.get("outputs"))
    model = facts.model or answered or text(inner(run, "inputs"), "model") or text(metadata, "ls_model_name")
    return Recorded(
        place=node.place,
        prompt=prompt_of(run.get("inputs")),
        reply=reply,
        tools=decoded(asked.get("tools") or asked.get("functions")) or inner(run, "inputs").get("tools"),
        model=model or text(asked, "model", "model_name") or None,
        usage=_usage(run, facts.usage, langchain),
        at=node.start,
        session=_session(node, tree) or text(run, "trace_id") or _root(run),
        agent=tree.agent(node),
        scope=node.parent,
        meta={"trace": text(run, "trace_id") or _root(run)},
    )


def _session(node: Node, tree: Tree) -> str:
    around = [node, *tree.above(node)]
    return next((found for one in around if (found := text(inner(one.value, "extra", "metadata"), *SESSIONS))), "")


def _usage(run: Wire, own: Usage, message: Wire) -> Usage:
    """Return the usage: the platform's own figures, the provider's response, the reply, or the run's totals."""
    outputs = inner(run, "outputs")
    for found in (outputs.get("usage_metadata"), inner(run, "extra", "metadata").get("usage_metadata")):
        usage = langchain_messages.metadata_usage(found)
        if usage.input is not None:
            return usage
    if own.input is not None:
        return own
    if message and (usage := langchain_messages.usage_of(message)) != Usage():
        return usage
    told = inner(outputs, "llm_output", "token_usage") or inner(outputs, "llm_output", "usage") or run
    return Usage(input=figure(told.get("prompt_tokens")), output=figure(told.get("completion_tokens")))


FORMAT = Format("langsmith", "LangSmith runs", sniff, read)
