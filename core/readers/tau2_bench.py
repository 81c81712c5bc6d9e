"""tau2-bench results: `{"info", "tasks", "simulations"}`, where an agent talks with a simulated user.

Both sides are models, and both call tools, so a simulation is two transcripts: what the agent's model was sent, and
what the user's model was sent, with the roles the other way round. Neither sees the other's tool calls and results.
The agent's opening line is fixed and no call. The file holds the policy, not the whole system prompt of the agent,
and nothing of what the user's model was told. In voice mode the talk is cut into ticks, which are joined again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .chat_wire import assistant, call, result
from .event_log import EventLog
from .fields import inner, listed, objects, text
from .formats import Format, Reading, share
from .responses import openai_usage
from .rows import Unused, read_rows, sample_rows, within
from .times import parse_time
from .tool_definitions import tools_of

SIDES = {"agent": "assistant", "user": "user"}
"""Each side's own role in the file."""
POLICY_ONLY = "of the system prompt only the policy is recorded, not the instructions around it"
EXPECTED = "Results with `info` and `simulations`, or one simulation with `messages` or `ticks`, were expected."
NO_TEXT = (
    "this is a voice simulation whose ticks hold no text, so there is nothing to show",
    "Give a run in text mode, or one whose chunks keep their `content`.",
)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are results of tau2-bench."""
    return 0.95 * share(sample_rows(values), lambda row: _is_results(row) or _is_simulation(row))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the agent's and the user's transcript of each simulation."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    if _is_simulation(row):
        yield from _simulation(reading, row, {}, place)
        return
    silent = 0
    for number, simulation in enumerate(objects(row, "simulations"), 1):
        try:
            here = within(place, f"simulation {number}")
            yield from _simulation(reading, simulation, inner(row, "info"), here)
        except Unused:
            silent += 1
    if silent == len(objects(row, "simulations")) > 0:
        raise Unused(*NO_TEXT)
    if silent:
        reading.report.add(f"{silent} voice simulations hold no text", NO_TEXT[1], place=place)


def _simulation(reading: Reading, simulation: Wire, info: Wire, place: str) -> Iterator[Transcript]:
    events = list(_events(simulation))
    if not events and listed(simulation, "ticks"):
        raise Unused(*NO_TEXT)
    for side in SIDES:
        made = _side(reading, simulation, events, info, side, place)
        if made is not None:
            yield made


def _events(simulation: Wire) -> Iterator[tuple[Wire, int]]:
    """Yield the messages in order, each with its number; messages of several tool results one by one."""
    source = listed(simulation, "messages") or _joined(objects(simulation, "ticks"))
    for number, message in enumerate(source, 1):
        if isinstance(message, Mapping):
            inside = objects(message, "tool_messages")
            yield from ((one, number) for one in (inside or [message]))


def _joined(ticks: Sequence[Wire]) -> list[dict[str, Any]]:
    """Return the messages of a voice simulation: neighbouring chunks of one speaker are one message."""
    found: list[dict[str, Any]] = []
    for tick in ticks:
        for side, role in (("user", "user"), ("agent", "assistant")):
            chunk = inner(tick, f"{side}_chunk")
            said, calls = text(chunk, "content"), objects(chunk, "tool_calls") or objects(tick, f"{side}_tool_calls")
            if said and found and found[-1]["role"] == role and not calls and not found[-1].get("tool_calls"):
                found[-1]["content"] += said
            elif said or calls:
                at = tick.get("timestamp")
                found.append({"role": role, "content": said or None, "tool_calls": calls, "timestamp": at})
            found += [{**one, "role": "tool"} for one in objects(tick, f"{side}_tool_results")]
    return found


def _side(
    reading: Reading, simulation: Wire, events: Sequence[tuple[Wire, int]], info: Wire, side: str, place: str
) -> Transcript | None:
    own, told = SIDES[side], inner(info, f"{side}_info")
    log = EventLog("openai_chat", reading, _settings(info, side))
    log.started = parse_time(simulation.get("start_time"))
    if policy := _policy(info, side):
        log.lead({"role": "system", "content": policy})
        log.notes.append(POLICY_ONLY)
    billed = any(message.get("role") == own and isinstance(message.get("usage"), Mapping) for message, _ in events)
    for message, number in events:
        here, wire = within(place, f"message {number}"), _wire(message, own)
        if wire is None:
            continue
        if wire["role"] == "assistant" and _is_call(message, billed):
            usage, at = openai_usage(message.get("usage")), parse_time(message.get("timestamp"))
            log.reply([wire], here, usage=usage, model=text(told, "llm"), at=at)
        else:
            log.say(wire, here)
    if not log.calls:
        return None
    name = text(simulation, "id")
    meta = {key: simulation[key] for key in ("task_id", "trial", "termination_reason") if key in simulation}
    other = "user" if side == "agent" else "agent"
    meta |= {"side": side, f"{side}_cost": simulation.get(f"{side}_cost"), "other_side": f"{name}/{other}"}
    meta |= {"reward": inner(simulation, "reward_info").get("reward")}
    kept = {key: value for key, value in meta.items() if value is not None}
    title = text(simulation, "task_id") if side == "agent" else f"simulated user: {text(simulation, 'task_id')}"
    return log.transcript(title=title, session=f"{name}/{side}", meta=kept)


def _wire(message: Wire, own: str) -> Wire | None:
    """Return a message as the side with this role in the file sees it; None for what it does not see."""
    role, calls = message.get("role"), objects(message, "tool_calls")
    if role == "tool":
        seen = message.get("requestor", "assistant") == own
        return result(message.get("content"), message.get("id")) if seen else None
    if role not in SIDES.values():
        return None
    if role != own:
        return None if calls or message.get("content") is None else {"role": "user", "content": message["content"]}
    named = [call(one.get("name"), one.get("arguments"), one.get("id")) for one in calls]
    return assistant(message.get("content"), named, text(message, "reasoning"))


def _is_call(message: Wire, billed: bool) -> bool:
    """Tell whether a side's message came from its model: where usage is recorded, the opening line has none."""
    if billed:
        return isinstance(message.get("usage"), Mapping)
    return message.get("turn_idx") != 0


def _policy(info: Wire, side: str) -> str:
    return text(inner(info, "environment_info"), "policy") if side == "agent" else ""


def _settings(info: Wire, side: str) -> Wire:
    tools = tools_of(inner(info, "environment_info").get("tool_defs"), "openai_chat") if side == "agent" else []
    arguments = inner(info, f"{side}_info", "llm_args")
    settings = {key: arguments[key] for key in ("temperature", "top_p", "max_tokens") if key in arguments}
    return {**settings, **({"tools": tools} if tools else {})}


def _is_results(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("simulations"), list) and "info" in row


def _is_simulation(row: Any) -> bool:
    if not isinstance(row, Mapping) or "task_id" not in row or "termination_reason" not in row:
        return False
    return isinstance(row.get("messages"), list) or isinstance(row.get("ticks"), list)


FORMAT = Format("tau2_bench", "tau2-bench results", sniff, read)
