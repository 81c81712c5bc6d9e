"""Caches of completions: one object whose keys are whole prompts, or lists of messages as JSON, with their answers.

MetaGPT's test cache is one. Nothing says which model was asked or what else was sent, so each entry is a call by
itself and partial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import text_of
from .chat_wire import assistant, decoded
from .event_log import EventLog
from .formats import Format, Reading, share
from .rows import within
from .shapes import is_message

LONG = 80
"""Characters of a key that is a prompt rather than a name."""
EXPECTED = "An object of prompts with their completions was expected."
NOTE = "read from a map of prompts to completions, which says nothing of the model or of what else was sent"


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are maps of prompts to completions."""
    return 0.6 * share(values, _is_map)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript an entry."""
    for record in reading.records:
        used = False
        entries = record.value.items() if isinstance(record.value, Mapping) else ()
        for number, (prompt, answer) in enumerate(entries, 1):
            place = within(record.place, f"entry {number}")
            if isinstance(answer, str | Mapping | list) and prompt:
                used = True
                yield _entry(reading, prompt, answer, place, f"entry {number}")
            else:
                reading.report.add("the entry has no completion", "It was left out.", place=place)
        if used:
            reading.report.used()
        else:
            reading.report.broken("this is no map of prompts to completions", EXPECTED, place=record.place)


def _entry(reading: Reading, prompt: str, answer: Any, place: str, name: str) -> Transcript:
    log = EventLog("openai_chat", reading)
    log.may_have_tools = False
    log.notes.append(NOTE)
    told = decoded(prompt)
    if isinstance(told, list) and told and all(map(is_message, told)):
        for message in told:
            log.say(message, place)
    else:
        log.say({"role": "user", "content": prompt}, place)
    log.reply([assistant(text_of(answer))], place)
    return log.transcript(session=name)


def _is_map(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    first = list(value.items())[:20]
    prompts = sum(len(key) >= LONG and " " in key and isinstance(answer, str | Mapping) for key, answer in first)
    return 2 * prompts > len(first)


FORMAT = Format("prompt_map", "maps of prompts to completions", sniff, read)
