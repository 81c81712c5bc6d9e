"""SWE-agent trajectories: `{"trajectory": steps, "history", "info", "replay_config"}`, and data sets made of them.

`history` is all that happened, demonstrations included, and each reply in it is a call. Since version 1 a step also
keeps a list of messages after history processors had shortened old observations. As `messages` that list was taken
after the step's reply, so it is the prompt of the next call; as `query` it may be the step's own prompt. Which of both
it is, is told by the replies in the list: one that holds n of them was sent for call n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Fidelity, Transcript
from ..wire import Wire, text_of
from .event_log import EventLog
from .fields import inner, objects, text
from .formats import Format, Reading, share
from .rows import Unused, read_rows, sample_rows, within
from .shapes import is_message
from .swe_agent_calls import agent_transcripts

ROLES = {"ai": "assistant", "assistant": "assistant", "user": "user", "system": "system", "tool": "tool"}
EXPECTED = "A trajectory with `history`, or a row whose `trajectory` holds messages, was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are trajectories of SWE-agent."""
    return 0.95 * share(sample_rows(values), lambda row: _is_run(row) or _is_row(row))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript for each agent of a run, one a row of a data set."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    if _is_row(row):
        yield from _row(reading, row, place)
        return
    found = False
    for made in agent_transcripts(reading, row, place):
        found = True
        yield made
    if not found:
        status = text(inner(row, "info"), "exit_status") or "unknown"
        raise Unused(f"the run has no messages (exit status: {status[:40]})", EXPECTED)


def _row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    """Read a row of a data set: messages with a role and a text, the first one a system prompt of its own field."""
    log = EventLog("openai_chat", reading)
    turns = objects(row, "trajectory")
    log.may_have_tools = any(turn.get("tool_calls") for turn in turns)
    for number, turn in enumerate(turns, 1):
        wire, here = _wire(turn), within(place, f"message {number}")
        if wire is None:
            reading.report.add("the message has no known role or no text", "It was left out.", place=here)
        elif wire["role"] == "assistant":
            whole = log.at.lead and not log.may_have_tools
            fidelity = Fidelity.RECONSTRUCTED if whole else Fidelity.PARTIAL
            log.reply([wire], here, model=text(row, "model_name"), fidelity=fidelity)
        else:
            log.say(wire, here)
    if log.builder.messages:
        keys = ("target", "exit_status", "resolved", "model_name")
        meta = {key: row[key] for key in keys if row.get(key) is not None}
        yield log.transcript(title=text(row, "instance_id"), session=text(row, "instance_id"), meta=meta)


def _wire(turn: Wire) -> Wire | None:
    role = ROLES.get(text(turn, "role"))
    if role is None:
        return None
    if "text" not in turn and is_message(turn):
        return {key: value for key, value in turn.items() if value is not None or key == "content"}
    said = turn.get("text") if turn.get("text") is not None else turn.get("system_prompt")
    return None if said is None else {"role": role, "content": text_of(said)}


def _is_run(row: Any) -> bool:
    if not isinstance(row, Mapping) or not isinstance(row.get("trajectory"), list):
        return False
    steps = [step for step in row["trajectory"] if isinstance(step, Mapping)]
    stepped = any("action" in step and "observation" in step for step in steps)
    return stepped or (isinstance(row.get("history"), list) and "info" in row)


def _is_row(row: Any) -> bool:
    if not isinstance(row, Mapping) or "history" in row or not objects(row, "trajectory"):
        return False
    turn = objects(row, "trajectory")[0]
    return "role" in turn and ("text" in turn or is_message(turn))


FORMAT = Format("swe_agent", "SWE-agent trajectories", sniff, read)
