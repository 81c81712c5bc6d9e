"""Fine-tuning examples: `{"messages", "tools"}` rows with weights, preference pairs, prompts with completions.

An example is what a model is trained on, so a message list is the whole prompt, and one without a system message has
none. LLaMA-Factory's rows hold typed parts (`text`, `reasoning`, `tool_call` with a `value`) and tools as JSON text.
A preference pair (DPO) keeps the preferred answer as the reply, the other one as an alternative.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Fidelity, Transcript
from ..wire import Wire, text_of
from .chat_wire import assistant, call, decoded, paired, slim, text_part
from .event_log import EventLog
from .fields import inner, objects
from .formats import Format, Reading, share
from .rows import read_rows, sample_rows, within
from .shapes import is_message
from .tool_definitions import tools_of

WEIGHTS = ("weight", "loss_weight")
"""What a message says of its share in the training: no part of a request."""
SETTINGS = ("functions", "parallel_tool_calls")
EXPECTED = "An example with `messages`, a preference pair or a prompt with its completion was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are examples for fine-tuning, by what no request has."""
    rows = sample_rows(values)
    marked = share(rows, lambda row: _is_pair(row) or _is_completion(row) or _is_marked(row))
    return 0.92 * marked if marked and all(map(_is_row, rows)) else 0.8 * marked


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript an example."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    told = inner(row, "input") if _is_pair(row) else row
    messages, weights = _messages(row, told)
    if not messages:
        return
    log = EventLog("openai_chat", reading, _settings(told))
    log.is_whole = True
    for number, wire in enumerate(paired(messages), 1):
        here = within(place, f"message {number}")
        if wire["role"] == "assistant":
            log.reply([wire], here, fidelity=Fidelity.RECONSTRUCTED)
        else:
            log.say(wire, here)
    rejected = row.get("non_preferred_output", row.get("rejected"))
    meta = {**({"weights": weights} if weights else {}), **({"rejected": rejected} if rejected is not None else {})}
    _tell_unread(reading, told, place)
    yield log.transcript(meta=meta)


def _messages(row: Wire, told: Wire) -> tuple[list[Wire], list[Any]]:
    """Return the messages of an example, the preferred answer last, and what each says of its weight."""
    if _is_completion(row):
        asked = {"role": "user", "content": row["prompt"]}
        return [asked, assistant(row["completion"])], []
    found = [message for message in objects(told, "messages") if is_message(message)]
    weights = [next((message[key] for key in WEIGHTS if key in message), None) for message in found]
    answers = [_wire(answer) for answer in _answers(row)]
    known = any(weight is not None for weight in weights)
    return [*map(_wire, found), *answers], weights if known else []


def _answers(row: Wire) -> list[Wire]:
    chosen = row.get("preferred_output", row.get("chosen"))
    if isinstance(chosen, str):
        return [{"role": "assistant", "content": chosen}]
    return [answer for answer in (chosen if isinstance(chosen, list) else [chosen]) if is_message(answer)]


def _wire(message: Wire) -> dict[str, Any]:
    """Return a message as a request holds it."""
    plain = {key: value for key, value in message.items() if key not in WEIGHTS}
    content = plain.get("content")
    if not isinstance(content, list) or not any(map(_is_typed, content)):
        return plain
    thought = "\n".join(text_of(part.get("value")) for part in content if _is(part, "reasoning"))
    calls = [one for part in content if _is(part, "tool_call") for one in _calls(part.get("value"))]
    parts = [_part(part) for part in content if not _is(part, "reasoning") and not _is(part, "tool_call")]
    if message.get("role") == "assistant":
        return {**plain, **assistant(slim(parts), calls, thought)}
    return {**plain, "content": slim(parts)}


def _part(part: Any) -> Any:
    return text_part(text_of(part["value"])) if _is(part, "text") and "value" in part else part


def _calls(value: Any) -> list[Wire]:
    told = decoded(value)
    found = [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, Mapping)]
    return [call(one.get("name"), one.get("arguments")) for one in found]


def _settings(told: Wire) -> Wire:
    tools = tools_of(decoded(told.get("tools")), "openai_chat")
    kept = {key: told[key] for key in SETTINGS if told.get(key) is not None}
    return {**({"tools": tools} if tools else {}), **kept}


def _tell_unread(reading: Reading, told: Wire, place: str) -> None:
    listed = told.get("messages")
    for number, message in enumerate(listed if isinstance(listed, list) else [], 1):
        if not is_message(message):
            expected = "An object with a role and content was expected; it was left out."
            here = within(place, f"message {number}")
            reading.report.add("the message of the example cannot be read", expected, place=here)


def _is_row(row: Any) -> bool:
    if not isinstance(row, Mapping) or "model" in row:
        return False
    return _is_pair(row) or _is_completion(row) or isinstance(row.get("messages"), list)


def _is_marked(row: Any) -> bool:
    """Tell whether a row has what only an example has: weights, typed values, tools as text, a rejected answer."""
    if not isinstance(row, Mapping) or "model" in row or not isinstance(row.get("messages"), list):
        return False
    if isinstance(row.get("tools"), str) or "rejected" in row:
        return True
    messages = objects(row, "messages")
    if any(key in message for message in messages for key in WEIGHTS):
        return True
    return any(_is_typed(part) for message in messages for part in _parts(message))


def _parts(message: Wire) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _is_typed(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("type"), str) and "value" in part


def _is(part: Any, kind: str) -> bool:
    return isinstance(part, Mapping) and part.get("type") == kind


def _is_pair(row: Any) -> bool:
    if not isinstance(row, Mapping) or not isinstance(row.get("input"), Mapping):
        return False
    return "preferred_output" in row and isinstance(row["input"].get("messages"), list)


def _is_completion(row: Any) -> bool:
    if not isinstance(row, Mapping) or not row.keys() <= {"prompt", "completion", "metadata"}:
        return False
    return isinstance(row.get("prompt"), str) and isinstance(row.get("completion"), str)


FORMAT = Format("openai_finetune", "examples for fine-tuning", sniff, read)
