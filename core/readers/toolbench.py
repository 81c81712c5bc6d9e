"""ToolBench answers: `{"tree", "answer_generation"}`, a depth-first search for the answer to one query.

The calls that led to the answer are recorded as they were sent, each with its reply as the last message. The whole
search is in the tree without what was put between its attempts, so it is a second transcript, rebuilt call by call in
the order of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..dialects import dialect
from ..transcript import Fidelity, Transcript
from ..wire import Wire, text_of
from .builder import exact_keys
from .event_log import EventLog
from .fields import inner, listed, objects, text
from .formats import Format, Reading, share
from .rows import Unused, read_rows, sample_rows, within
from .run import Run
from .shapes import is_message
from .titles import title_of

EXPECTED = "An answer of ToolBench with `tree` and `answer_generation` was expected."
REBUILT = "rebuilt from the search tree; what was put between its attempts is not recorded"


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are answers of ToolBench."""
    return 0.95 * share(sample_rows(values), _is_answer)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the calls that led to the answer, then the whole search."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    answer = inner(row, "answer_generation")
    lists = [kept for kept in map(_messages, listed(answer, "train_messages")) if len(kept) > 1]
    name = reading.stem or text(answer, "query")[:40]
    path = _answer(reading, row, answer, lists, name) if lists else None
    if path is not None:
        yield path
    search = _search(reading, row, answer, lists, within(place, "tree"), name)
    if search is not None:
        yield search
    elif path is None:
        raise Unused("the answer holds neither messages nor a search tree", EXPECTED)


def _messages(value: Any) -> list[Wire]:
    return [message for message in value if is_message(message)] if isinstance(value, list) else []


def _answer(reading: Reading, row: Wire, answer: Wire, lists: Sequence[list[Wire]], name: str) -> Transcript:
    run, spoken = Run("openai_chat"), dialect("openai_chat")
    for messages in lists:
        head, wires = spoken.split({**_functions(answer), "messages": messages[:-1]})
        run.add(head, wires, exact_keys(wires), response=messages[-1], fidelity=_fidelity(answer))
    notes = run.notes() + ([] if _functions(answer) else ["tool definitions not recorded"])
    query = text(answer, "query") or title_of(spoken, run.builder.messages, name)
    kept = {key: answer[key] for key in ("total_tokens", "query_count", "finish_type") if answer.get(key) is not None}
    return run.builder.build(
        title=title_of(spoken, [{"role": "user", "content": query}], name),
        format=reading.report.format or "",
        source=reading.name,
        session=name,
        notes=notes,
        meta={**kept, "solved": bool(row.get("win"))},
    )


def _search(
    reading: Reading, row: Wire, answer: Wire, lists: Sequence[list[Wire]], place: str, name: str
) -> Transcript | None:
    root = inner(row, "tree", "tree") or inner(row, "tree")
    log = EventLog("openai_chat", reading, _functions(answer))
    opening = [wire for wire in (lists[0] if lists else [])[:-1] if wire.get("role") in ("system", "user")]
    query = text(answer, "query")
    for wire in opening or ([{"role": "user", "content": query}] if query else []):
        log.say(wire, place)
    _walk(log, root, "", "", place)
    if not log.calls or not log.builder.messages:
        return None
    log.notes.append(REBUILT)
    title = f"search: {query}" if query else ""
    return log.transcript(title=title, session=f"{name}/search", meta={"answer": name})


def _walk(log: EventLog, node: Wire, thought: str, action: str, place: str) -> None:
    """Add a node's message and what follows it, then take the search up again where it stood."""
    kind, said, before = text(node, "node_type"), text(node, "description"), log.at
    children = objects(node, "children")
    acts = any(text(child, "node_type") == "Action" for child in children)
    if kind == "Thought" and not acts and said:
        log.reply([{"role": "assistant", "content": said}], place)
    elif kind == "Action Input" and action:
        call = {"name": action, "arguments": said}
        log.reply([{"role": "assistant", "content": thought or None, "function_call": call}], place)
        log.say({"role": "function", "name": action, "content": text_of(node.get("observation"))}, place)
    led = said if kind == "Thought" and acts else thought if kind == "Action" else ""
    for child in children:
        _walk(log, child, led, said if kind == "Action" else "", place)
    log.at = before


def _fidelity(answer: Wire) -> Fidelity:
    return Fidelity.CAPTURED if _functions(answer) else Fidelity.PARTIAL


def _functions(answer: Wire) -> dict[str, Any]:
    functions = objects(answer, "function")
    return {"functions": functions} if functions else {}


def _is_answer(row: Any) -> bool:
    if not isinstance(row, Mapping) or not isinstance(row.get("answer_generation"), Mapping):
        return False
    return "tree" in row or "trys" in row or "train_messages" in row["answer_generation"]


FORMAT = Format("toolbench", "ToolBench answers", sniff, read)
