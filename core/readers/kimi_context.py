"""Context files of Kimi CLI (`context.jsonl`): the messages that the model reads, one a line.

Between them stand lines of the CLI's own, whose role begins with an underscore: checkpoints, and the size of the
context after a reply, which is no usage of a call. After a compaction the file is written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .event_log import EventLog, Ignored
from .fields import objects, text, texts_of
from .formats import Format, Reading, share
from .kimi_steps import content_of
from .shapes import is_message

OWN = frozenset({"_checkpoint", "_usage", "_system_prompt"})


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a context file of Kimi CLI."""
    own = share(values, lambda value: text(value, "role") in OWN)
    return 0.95 * share(values, _is_line) if own else 0.0


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the session."""
    log, ignored = EventLog("openai_chat", reading), Ignored(reading, OWN)
    for record in reading.records:
        value, place = record.value, record.place
        if not _is_line(value):
            expected = "An object with a role was expected; it was left out."
            reading.report.broken("this is no line of a Kimi context", expected, place=place)
        elif value["role"] == "_system_prompt" and text(value, "content"):
            reading.report.used()
            log.lead({"role": "system", "content": value["content"]})
        elif value["role"].startswith("_"):
            ignored.add(value["role"], place)
        else:
            reading.report.used()
            _add(log, value, place)
    counted = ignored.tell()
    if log.builder.messages or log.calls:
        yield log.transcript(meta={"ignored": counted} if counted else {})


def _add(log: EventLog, value: Wire, place: str) -> None:
    content = value.get("content")
    if value["role"] != "assistant":
        log.say({**value, "content": content_of(content)}, place)
        return
    thought = "\n".join(text(part, "think") for part in objects(value, "content") if text(part, "think"))
    spoken = [part for part in content if text(part, "type") != "think"] if isinstance(content, list) else content
    wire: dict[str, Any] = {**value, "content": texts_of(spoken) or (None if value.get("tool_calls") else "")}
    if thought:
        wire["reasoning_content"] = thought
    log.reply([wire], place)


def _is_line(value: Any) -> bool:
    return isinstance(value, Mapping) and (text(value, "role") in OWN or is_message(value))


FORMAT = Format("kimi_context", "Kimi CLI context files", sniff, read)
