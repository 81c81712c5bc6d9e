"""ToolEval results: one object of `{id: {"query", "available_tools", "answer": {"answer_details"}}}`.

A call and its result are one entry, written as Python writes a dictionary and often cut off at 100 characters; what
is left of a cut entry is kept, and a result of which nothing is left stands empty. Where the entries branch, all
branches are read and the last one is the live one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from ..wording import agreeing, counted
from .event_log import EventLog
from .fields import inner, objects, text
from .formats import Format, Reading, share
from .rows import within

CUT = 100
"""Characters at which the published results are cut."""
FINISH = "Finish"
"""The function that ends a run and has no result."""
EXPECTED = "Results by id, each with `query` and `answer`, were expected."
_FIELD = re.compile(r"""'(\w+)': (?:'((?:[^'\\]|\\.)*)('?)|"((?:[^"\\]|\\.)*)("?))""", re.DOTALL)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are results of ToolEval."""
    return 0.95 * share(values, _is_results)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a query."""
    for record in reading.records:
        found = False
        for key, row in record.value.items() if isinstance(record.value, Mapping) else ():
            place = within(record.place, f"query {str(key)[:40]}")
            made = _read_row(reading, str(key), row, place) if isinstance(row, Mapping) else None
            if made is None:
                reading.report.add("nothing was found in it to read", f"{EXPECTED} It was left out.", place=place)
            else:
                found = True
                yield made
        if found:
            reading.report.used()
        else:
            reading.report.broken("these are no results of ToolEval", EXPECTED, place=record.place)


def _read_row(reading: Reading, key: str, row: Wire, place: str) -> Transcript | None:
    functions = objects(row, "available_tools")
    log = EventLog("openai_chat", reading, {"functions": functions} if functions else {})
    lengths: list[int] = []
    answer = inner(row, "answer")
    for entry in objects(answer, "answer_details"):
        _walk(log, entry, "", lengths, place)
    if not log.builder.messages and text(row, "query"):
        log.say({"role": "user", "content": text(row, "query")}, place)
    if not log.builder.messages:
        return None
    if cut := sum(length == CUT for length in lengths):
        said = f"{cut:,} of {counted(len(lengths), 'tool entry')} {agreeing(cut, 'is', 'are')}"
        log.notes.append(f"{said} cut at {CUT} characters in the file")
    meta = {name: answer[name] for name in ("method", "total_steps", "final_answer") if answer.get(name) is not None}
    return log.transcript(title=text(row, "query"), session=key, meta=meta)


def _walk(log: EventLog, entry: Wire, thought: str, lengths: list[int], place: str) -> None:
    """Add an entry and what follows it. A text of the model before a call is of the same reply."""
    role, said, following = text(entry, "role"), text(entry, "message"), objects(entry, "next")
    acts = any(text(child, "role") == "tool" for child in following)
    if role == "tool":
        lengths.append(len(said))
        _act(log, said, thought, place)
    elif role == "assistant" and not acts:
        log.reply([{"role": "assistant", "content": said}], place)
    elif role in ("system", "user") and said:
        log.say({"role": role, "content": said}, place)
    here = log.at
    for child in following:
        log.at = here
        _walk(log, child, said if role == "assistant" and acts else "", lengths, place)


def _act(log: EventLog, said: str, thought: str, place: str) -> None:
    fields = dict(_fields(said))
    name = fields.get("name", "")
    if not name:
        log.reply([{"role": "assistant", "content": said}], place)
        return
    call = {"name": name, "arguments": fields.get("arguments", "")}
    log.reply([{"role": "assistant", "content": thought or None, "function_call": call}], place)
    if "response" in fields or (len(said) == CUT and name != FINISH):
        log.say({"role": "function", "name": name, "content": fields.get("response", "")}, place)


def _fields(said: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a printed dictionary, the last one also where it breaks off."""
    for found in _FIELD.finditer(said):
        quote = "'" if found[2] is not None else '"'
        yield found[1], _unescaped(found[2] if found[2] is not None else found[4], quote)


def _unescaped(text: str, quote: str) -> str:
    try:
        return str(ast.literal_eval(quote + text.replace("\n", "\\n") + quote))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _is_results(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    rows = list(value.values())[:20]
    return sum(map(_is_row, rows)) > len(rows) / 2


def _is_row(row: Any) -> bool:
    return isinstance(row, Mapping) and "query" in row and isinstance(row.get("answer"), Mapping)


FORMAT = Format("toolbench_eval", "ToolEval results", sniff, read)
