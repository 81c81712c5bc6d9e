"""AgentBench: runs of `{"index", "output": {"status", "history"}, "error"}`, and its few-shot episodes.

The agent is a role of its own, its actions are text, and no system prompt or usage is recorded. The prompt files hold
episodes, `{name: [observation, action, observation, ...]}`, whose texts have no role but their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .event_log import EventLog
from .fields import inner, listed, text
from .formats import Format, Reading, share
from .rows import Unused, read_rows, sample_rows, within
from .times import parse_time

ROLES = {"user": "user", "agent": "assistant", "assistant": "assistant", "system": "system"}
EPISODE = re.compile(r"(re)?act_[a-z]+_\d+")
EXPECTED = "A run with `index` and `output`, or episodes as lists of texts, were expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are runs or episodes of AgentBench."""
    rows = sample_rows(values)
    return 0.95 * share(rows, _is_run) + 0.9 * share(rows, _is_episodes)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a run or an episode."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    if not _is_run(row):
        for name, texts in row.items():
            if isinstance(texts, list):
                yield from _episode(reading, str(name), texts, within(place, str(name)[:40]))
        return
    output = inner(row, "output")
    status = text(output, "status") or text(row, "error") or "unknown"
    log = _log(reading)
    for number, message in enumerate(listed(output, "history"), 1):
        _say(log, message, within(place, f"message {number}"))
    if not log.builder.messages:
        raise Unused(
            f"the run has no history (status: {status[:60]})", "Runs that failed at their start were left out."
        )
    meta = {"index": row.get("index"), "status": status, "error": row.get("error"), "result": output.get("result")}
    ended = parse_time(inner(row, "time").get("timestamp"))
    meta |= {"ended": ended.isoformat() if ended else None}
    session = f"run {row.get('index')}"
    yield log.transcript(session=session, meta={key: value for key, value in meta.items() if value is not None})


def _log(reading: Reading) -> EventLog:
    log = EventLog("openai_chat", reading)
    log.may_have_tools = False
    return log


def _say(log: EventLog, message: Any, place: str) -> None:
    role, content = ROLES.get(text(message, "role")), message.get("content") if isinstance(message, Mapping) else None
    if role is None or not isinstance(content, str):
        log.reading.report.add("the message has no known role or no text", "It was left out.", place=place)
    elif role == "assistant":
        log.reply([{"role": role, "content": content}], place)
    else:
        log.say({"role": role, "content": content}, place)


def _episode(reading: Reading, name: str, texts: Sequence[Any], place: str) -> Iterator[Transcript]:
    log = _log(reading)
    log.notes.append("a few-shot episode: its texts have no roles and were read as environment and agent in turn")
    for number, said in enumerate(texts):
        _say(log, {"role": "agent" if number % 2 else "user", "content": said}, within(place, f"text {number + 1}"))
    if log.builder.messages:
        yield log.transcript(title=name, session=name)


def _is_run(row: Any) -> bool:
    if not isinstance(row, Mapping) or "index" not in row or not {"output", "error"} & row.keys():
        return False
    output = row.get("output")
    return (isinstance(output, Mapping) and "history" in output) or (output is None and "info" in row)


def _is_episodes(row: Any) -> bool:
    if not isinstance(row, Mapping) or not row:
        return False
    return all(EPISODE.fullmatch(str(name)) and isinstance(texts, list) for name, texts in row.items())


FORMAT = Format("agentbench", "AgentBench runs", sniff, read)
