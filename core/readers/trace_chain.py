"""Prompts of calls whose recording holds none: what was asked and answered before within the same span.

Some instrumentations record a question once and then only what the model said, call by call, with the runs of its
tools beside. What was said before a call is then its prompt, as in any event log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..wire import Wire, dump, text_of
from .chat_wire import decoded, result
from .fields import inner, objects, text
from .prompts import ANTHROPIC, Loose, chosen, evidence
from .trace_calls import Recorded

PUT_TOGETHER = "prompts that were not recorded were put together from what was said before"


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One run of a tool, beside the calls to the model."""

    scope: str
    name: str
    arguments: Any
    output: Any
    call_id: str = ""
    ended: datetime | None = None


def with_prompts(calls: Sequence[Recorded], runs: Sequence[ToolRun]) -> list[Recorded]:
    """Return calls in the order of their time; those without a prompt get one from the calls before in their span."""
    ordered = sorted(calls, key=lambda call: call.at.timestamp() if call.at else 0.0)
    said: dict[str, list[Any]] = {}
    found = []
    for call in ordered:
        before = said.get(call.scope)
        if call.prompt is None and before and call.scope:
            before = _answered(before, [run for run in runs if run.scope == call.scope and _is_before(run, call)])
            call = replace(call, prompt=Loose(before), notes=(PUT_TOGETHER,))
        if call.prompt is not None and call.reply is not None:
            said[call.scope] = _joined([*call.prompt.messages, *call.reply.messages])
        found.append(call)
    return found


def _is_before(run: ToolRun, call: Recorded) -> bool:
    return run.ended is None or call.at is None or run.ended <= call.at


def _joined(messages: Sequence[Any]) -> list[Any]:
    """Return messages with neighbouring replies as one, where they are lists of blocks."""
    found: list[Any] = []
    for message in messages:
        last = found[-1] if found else {}
        if _are_blocks(last) and _are_blocks(message):
            found[-1] = {**last, "content": [*last["content"], *message["content"]]}
        else:
            found.append(message)
    return found


def _are_blocks(message: Any) -> bool:
    return text(message, "role") == "assistant" and isinstance(message.get("content"), list)


def _answered(messages: list[Any], runs: Sequence[ToolRun]) -> list[Any]:
    """Return messages with the results of the calls at their end, as far as they were recorded."""
    calls = _open_calls(messages[-1] if messages else None)
    left = list(runs)
    pairs = []
    for name, arguments, call_id in calls:
        run = _run(left, name, arguments, call_id)
        if run is not None:
            left.remove(run)
            pairs.append((call_id, run))
    if not pairs:
        return messages
    if chosen(evidence(messages)) == ANTHROPIC:
        return [*messages, {"role": "user", "content": [_block(call_id, run) for call_id, run in pairs]}]
    return [*messages, *(result(_output(run), call_id, run.name) for call_id, run in pairs)]


def _open_calls(message: Any) -> list[tuple[str, Any, str]]:
    found = [
        (text(block, "name"), block.get("input"), text(block, "id"))
        for block in objects(message, "content")
        if block.get("type") == "tool_use"
    ]
    for one in objects(message, "tool_calls"):
        function = inner(one, "function")
        found.append((text(function, "name"), decoded(function.get("arguments")), text(one, "id")))
    return found


def _run(runs: Sequence[ToolRun], name: str, arguments: Any, call_id: str) -> ToolRun | None:
    same = [run for run in runs if run.name == name]
    alike = [run for run in same if dump(run.arguments) == dump(arguments)]
    by_id = [run for run in runs if call_id and run.call_id == call_id]
    return next(iter(by_id or alike or same), None)


def _output(run: ToolRun) -> Any:
    """Return what a tool gave back, without the object that Anthropic's tools put around it."""
    output = run.output
    if isinstance(output, Mapping) and output.keys() <= {"content", "is_error"} and "content" in output:
        return output["content"]
    return output


def _block(call_id: str, run: ToolRun) -> Wire:
    content = _output(run)
    kept = content if isinstance(content, str | list) else text_of(content)
    return {"type": "tool_result", "tool_use_id": call_id, "content": kept}
