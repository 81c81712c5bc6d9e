"""tau-bench results: rows of `{"task_id", "trial", "reward", "info", "traj"}`, each a dialogue of an agent.

The policy is the system message; the tools that the agent had, the model's name, usage and times are not in the file.
The user is simulated: its last turn ends the run and was never sent to the agent, so it makes no call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .event_log import EventLog
from .fields import inner, listed, text
from .formats import Format, Reading, share
from .rows import Unused, read_rows, sample_rows, within
from .shapes import is_message

EXPECTED = "A row with `task_id` and the list `traj` of messages was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are results of tau-bench."""
    return 0.95 * share(sample_rows(values), _is_row)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a run."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    info = inner(row, "info")
    if listed(row, "traj") == [] and text(info, "error"):
        raise Unused(f"the run failed before its first message ({text(info, 'error')[:80]})", "It was left out.")
    log = EventLog("openai_chat", reading)
    for number, message in enumerate(listed(row, "traj"), 1):
        here = within(place, f"message {number}")
        if not is_message(message):
            reading.report.add("the message has no role or no content", "It was left out.", place=here)
        elif message["role"] == "assistant":
            log.reply([message], here)
        else:
            log.say(message, here)
    if log.builder.messages:
        task, trial = row.get("task_id"), row.get("trial")
        meta = {"task": task, "trial": trial, "reward": row.get("reward"), "user": inner(info, "task").get("user_id")}
        session = f"task {task}" + ("" if trial is None else f", trial {trial}")
        yield log.transcript(session=session, meta={key: value for key, value in meta.items() if value is not None})


def _is_row(row: Any) -> bool:
    return isinstance(row, Mapping) and "task_id" in row and isinstance(row.get("traj"), list)


FORMAT = Format("tau_bench", "tau-bench results", sniff, read)
