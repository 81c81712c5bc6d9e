"""mini-swe-agent trajectories: `{"info", "messages", "trajectory_format"}`, in version 0 the bare list of messages.

The run is linear and nothing is ever left out: the prompt of a call is all that stands before its reply. What is no
part of a request (`extra`, with the whole response and its usage) is taken off the messages; the last one, of the role
`exit`, was never sent. With the Responses API a reply stands as its whole response object, whose items are sent back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Fidelity, Transcript, Usage
from ..wire import Wire
from .event_log import EventLog
from .fields import inner, listed, objects, text
from .figures import count
from .formats import Format, Reading, share
from .responses import is_responses_response, openai_usage, responses_usage
from .rows import read_rows, within
from .shapes import is_item, is_message
from .times import parse_time

EXPECTED = "A trajectory with `messages` and `info` was expected."
NOT_SENT = ("extra", "function_call", "provider_specific_fields")
"""What the messages hold beside what is sent: a function call of the old kind only where it is nothing."""


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are trajectories of mini-swe-agent."""
    return 0.95 * share(values, lambda value: _is_run(value) or _as_run(value) is not None)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a run."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED, _as_run)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    messages, info = listed(row, "messages"), inner(row, "info")
    config = inner(info, "config")
    responses = any(map(is_responses_response, messages))
    log = EventLog("openai_responses" if responses else "openai_chat", reading)
    log.may_have_tools = any(map(_calls, messages)) or _offers_tools(info)
    exit_note = ""
    for number, message in enumerate(messages, 1):
        here = within(place, f"message {number}")
        if isinstance(message, Mapping) and message.get("role") == "exit":
            exit_note = text(message, "content")[:200]
        elif not _take(log, message, text(inner(config, "model"), "model_name"), here):
            expected = "An object with a role and content was expected; it was left out."
            reading.report.add("the message cannot be read", expected, place=here)
    if not log.builder.messages:
        return
    _pending(log, info)
    stats = inner(info, "model_stats")
    meta = {"exit_status": info.get("exit_status"), "exit": exit_note, "version": info.get("mini_version")}
    meta |= {"cost": stats.get("instance_cost"), "api_calls": stats.get("api_calls")}
    kept = {key: value for key, value in meta.items() if value not in (None, "")}
    name = text(row, "instance_id")
    yield log.transcript(title=name, session=name or reading.stem, meta=kept)


def _take(log: EventLog, message: Any, model: str, place: str) -> bool:
    """Add a message to the run; return false if it is none."""
    if not isinstance(message, Mapping):
        return False
    extra, at = inner(message, "extra"), parse_time(inner(message, "extra").get("timestamp"))
    answer = inner(extra, "response")
    if is_responses_response(message):
        items = [item for item in objects(message, "output")]
        log.reply(
            items, place, usage=responses_usage(message.get("usage")), model=text(message, "model") or model, at=at
        )
    elif is_message(message) and message["role"] == "assistant":
        log.reply(
            [_wire(message)],
            place,
            usage=_usage(answer),
            model=text(answer, "model") or model,
            at=at,
            fidelity=_fidelity(log),
        )
    elif is_message(message) or is_item(message):
        log.say(_wire(message), place)
        log.started = log.started or at
    else:
        return False
    return True


def _fidelity(log: EventLog) -> Fidelity:
    """The whole prompt is recorded but for tool definitions."""
    return Fidelity.RECONSTRUCTED if log.at.lead and not log.may_have_tools else Fidelity.PARTIAL


def _pending(log: EventLog, info: Wire) -> None:
    """Add the call that failed: the last one that was counted and has no reply."""
    asked = count(inner(info, "model_stats").get("api_calls"))
    last = log.builder.dialect.message(log.builder.messages[-1])
    if asked == log.calls + 1 and last.role != "assistant":
        model = text(inner(info, "config", "model"), "model_name")
        log.reply([], model=model, fidelity=_fidelity(log))


def _usage(answer: Wire) -> Usage:
    return openai_usage(answer.get("usage"))


def _wire(message: Wire) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in NOT_SENT or (key != "extra" and value)}


def _offers_tools(info: Wire) -> bool:
    """Tell whether the model was offered a tool: since version 2 it is, save by models that write commands as text."""
    major = text(info, "mini_version").partition(".")[0]
    return major.isdigit() and int(major) >= 2 and "text" not in text(inner(info, "config"), "model_type").lower()


def _calls(message: Any) -> bool:
    return bool(listed(message, "tool_calls") or (is_responses_response(message) and objects(message, "output")))


def _is_run(row: Any) -> bool:
    if not isinstance(row, Mapping) or not isinstance(row.get("messages"), list):
        return False
    info = inner(row, "info")
    return text(row, "trajectory_format").startswith("mini-swe-agent") or "mini_version" in info


def _as_run(value: Any) -> Wire | None:
    """Return a bare list of messages as a run, told by the results that this agent's commands have."""
    told = objects({"messages": value}, "messages")
    mine = any(turn.get("role") == "user" and text(turn, "content").startswith("<returncode>") for turn in told)
    return {"messages": value} if mine else None


FORMAT = Format("mini_swe_agent", "mini-swe-agent trajectories", sniff, read)
