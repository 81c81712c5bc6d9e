"""ShareGPT and its relatives: rows of `{"conversations": [{"from", "value"}], "system", "tools"}`.

The form in which chat data sets are handed on. Tool calls are turns of JSON (`function_call`) whose results
(`observation`) follow in order. Rows of preference data keep the answer that was preferred as the reply, the other one
as an alternative. Alpaca rows (`instruction`, `input`, `output`, `history`) are read alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Fidelity, Transcript
from ..wire import Wire
from ..wording import counted
from .chat_wire import assistant, call, decoded, paired, result
from .event_log import EventLog
from .fields import listed, text
from .formats import Format, Reading, share
from .rows import read_rows, sample_rows, within
from .tool_definitions import tools_of

TURN_LISTS = ("conversations", "conversation", "items")
ROLES = {
    "human": "user",
    "user": "user",
    "prompter": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "system": "system",
    "function_call": "call",
    "function-call": "call",
    "observation": "tool",
    "tool": "tool",
    "function_response": "tool",
    "function-response": "tool",
}
EXPECTED = "A row with `conversations`, a list of turns with `from` and `value`, was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are rows of ShareGPT or Alpaca."""
    rows = sample_rows(values)
    return 0.9 * share(rows, _is_row) + 0.85 * share(rows, _is_alpaca)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a row."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    turns = _alpaca_turns(row) if _is_alpaca(row) else _turns(row)
    log = EventLog("openai_chat", reading, _tools(row))
    log.may_have_tools = any(wire.get("tool_calls") for wire, _ in turns)
    if text(row, "system"):
        log.say({"role": "system", "content": row["system"]})
    wires = paired(wire for wire, _ in turns)
    for wire, (_, number) in zip(wires, turns, strict=True):
        here = within(place, f"turn {number}")
        if wire["role"] == "assistant":
            log.reply([wire], here, fidelity=_fidelity(log))
        else:
            log.say(wire, here)
    rejected = _alternative(log, row)
    if log.calls or log.builder.messages:
        _tell_unused(reading, row, len(turns), place)
        meta = {key: row[key] for key in ("id", "images", "category", "source", "lang") if row.get(key)}
        yield log.transcript(session=str(row.get("id") or ""), meta={**meta, **rejected})


def _fidelity(log: EventLog) -> Fidelity:
    missing = log.may_have_tools and "tools" not in log.settings
    return Fidelity.RECONSTRUCTED if log.at.lead and not missing else Fidelity.PARTIAL


def _turns(row: Wire) -> list[tuple[Wire, int]]:
    """Return the messages of a row, each with the number of its turn."""
    key = next((key for key in TURN_LISTS if isinstance(row.get(key), list)), "")
    found = []
    for number, turn in enumerate(listed(row, key), 1):
        if isinstance(turn, Mapping) and (wire := _wire(turn)) is not None:
            found.append((wire, number))
    return found


def _wire(turn: Wire) -> Wire | None:
    role, value = ROLES.get(text(turn, "from", "role").lower()), turn.get("value", turn.get("content"))
    if role is None or not isinstance(value, str | list | Mapping):
        return None
    if role == "assistant":
        return assistant(value)
    if role == "call":
        return _call(value)
    return result(value) if role == "tool" else {"role": role, "content": value}


def _call(value: Any) -> Wire:
    """Return a message that calls a tool, or several; one whose JSON cannot be read stays a text."""
    told = decoded(value)
    calls = [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, Mapping)]
    named = [call(one["name"], one.get("arguments", one.get("parameters"))) for one in calls if text(one, "name")]
    return assistant(None, named) if named else assistant(value)


def _alternative(log: EventLog, row: Wire) -> dict[str, Any]:
    """Add the preferred answer as the reply; return the other one."""
    chosen, rejected = row.get("chosen"), row.get("rejected")
    answers = [{"role": "assistant", "content": chosen}] if isinstance(chosen, str) else [chosen]
    for answer in answers if chosen is not None and log.builder.messages else ():
        wire = _wire({"from": "gpt", **answer}) if isinstance(answer, Mapping) else None
        if wire is not None:
            log.reply([wire], fidelity=_fidelity(log))
    return {"rejected": rejected} if rejected is not None else {}


def _tell_unused(reading: Reading, row: Wire, used: int, place: str) -> None:
    if _is_alpaca(row):
        return
    key = next((key for key in TURN_LISTS if isinstance(row.get(key), list)), "")
    if missing := len(listed(row, key)) - used:
        expected = "Turns from human, gpt, system, function_call or observation with a text were expected."
        reading.report.add(f"{counted(missing, 'turn')} could not be read", expected, place=place)


def _tools(row: Wire) -> Wire:
    tools = tools_of(decoded(row.get("tools")), "openai_chat")
    return {"tools": tools} if tools else {}


def _alpaca_turns(row: Wire) -> list[tuple[Wire, int]]:
    asked = "\n".join(part for part in (text(row, "instruction"), text(row, "input")) if part)
    history = [pair for pair in listed(row, "history") if isinstance(pair, list) and len(pair) == 2]
    pairs = [*history, [asked, row.get("output")]]
    wires = [wire for pair in pairs for wire in ({"role": "user", "content": pair[0]}, assistant(pair[1]))]
    return [(wire, number) for number, wire in enumerate(wires, 1) if isinstance(wire.get("content"), str)]


def _is_row(row: Any) -> bool:
    if not isinstance(row, Mapping):
        return False
    turns: list[Any] = next((row[key] for key in TURN_LISTS if isinstance(row.get(key), list)), [])
    return any(isinstance(turn, Mapping) and "from" in turn and "value" in turn for turn in turns)


def _is_alpaca(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("instruction"), str) and isinstance(row.get("output"), str)


FORMAT = Format("sharegpt", "ShareGPT and Alpaca rows", sniff, read)
