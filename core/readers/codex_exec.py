"""The stream of `codex exec --json`: thread, turn and item events, as a script sees them.

It is not a rollout: the user's prompt, the model and the times are missing, and the usage of a turn is the total of
the thread so far. Items are given the form in which the model would have seen them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire, dump, text_of
from .event_log import EventLog, Ignored
from .fields import inner, text
from .figures import Doubtful, figure
from .formats import Format, Reading, share
from .records import Record
from .sessions import one_session

EVENTS = frozenset(
    """
    thread.started turn.started turn.completed turn.failed item.started item.updated item.completed error
    """.split()  # noqa: SIM905
)
_FIGURES = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are the events of `codex exec`."""
    return 0.97 * share(values, _is_event) if any(map(_is_own, values)) else 0.0


class _Thread:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = EventLog("openai_responses", reading)
        self.ignored = Ignored(reading, EVENTS)
        self.session = ""
        self._reply: list[Wire] = []
        self._started: dict[str, Wire] = {}
        self._total: dict[str, int] = {}
        self._turn = 0

    def take(self, record: Record) -> None:
        """Take one event in, and count it."""
        value, place, report = record.value, record.place, self.reading.report
        kind = text(value, "type")
        if not _is_event(value):
            report.broken(
                "this is no event of codex exec", "An object with `type` was expected; it was left out.", place=place
            )
        elif kind.startswith("item.") and isinstance(value.get("item"), Mapping):
            self._item(kind, value["item"], place)
        elif kind == "turn.completed":
            report.used()
            self._completed(inner(value, "usage"))
        elif kind == "thread.started":
            report.used()
            self.session = self.session or text(value, "thread_id")
        else:
            if kind in ("turn.failed", "error"):
                self.log.notes.append(f"a turn failed before call {self.log.calls + 1}")
            self.ignored.add(kind, place)

    def _item(self, kind: str, item: Wire, place: str) -> None:
        name = text(item, "id") or place
        if kind != "item.completed":
            self._started[name] = item
            self.ignored.add(kind, place)
            return
        self._started.pop(name, None)
        self.reading.report.used()
        self._add(item, name, place)

    def _add(self, item: Wire, name: str, place: str) -> None:
        spoken, result = _as_items(item, name)
        if spoken is None:
            self.ignored.add(f"item/{text(item, 'type', 'item_type')}", place, counted=False)
            return
        self._reply.append(spoken)
        if result is not None:
            self._flush()
            self.log.say(result, place)

    def _flush(self) -> None:
        if self._reply:
            reply, self._reply = self._reply, []
            self.log.reply(reply)

    def _completed(self, usage: Wire) -> None:
        """One call in the turn: the growth of the total is its usage."""
        self._flush()
        total = {key: number for key in _FIGURES if (number := figure(usage.get(key))) is not None}
        grown = {key: number - self._total.get(key, 0) for key, number in total.items()}
        if self.log.calls - self._turn == 1 and grown.get("input_tokens", 0) > 0:
            self.log.with_usage(self._turn, _usage(grown))
        self._total, self._turn = total or self._total, self.log.calls

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the thread, if anything was said in it."""
        for name, item in self._started.items():
            spoken, _ = _as_items(item, name)
            if spoken is not None:
                self._reply.append(spoken)
                self.log.notes.append(f"{text(item, 'type', 'item_type')} {name} did not end")
        self._flush()
        ignored = self.ignored.tell()
        if not self.log.calls:
            return
        self.log.notes.insert(0, "the user's prompts are not recorded")
        meta: dict[str, Any] = {"ignored": ignored} if ignored else {}
        if total := {key: number for key, number in self._total.items() if not isinstance(number, Doubtful)}:
            meta["usage"] = total
        yield self.log.transcript(session=self.session, meta=meta)


def _as_items(item: Wire, name: str) -> tuple[Wire | None, Wire | None]:
    """Return an item as what the model wrote, and as the result that it got; None where it is neither."""
    kind = text(item, "type", "item_type")
    said = text(item, "text")
    if kind == "reasoning":
        return {"type": "reasoning", "id": name, "summary": [{"type": "summary_text", "text": said}]}, None
    if kind in ("agent_message", "assistant_message"):
        return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}, None
    if kind == "web_search":
        action = {"type": "search", "query": text(item, "query")}
        return {"type": "web_search_call", "id": name, "status": "completed", "action": action}, None
    tool, given, result = _tool(kind, item)
    if not tool:
        return None, None
    call = {"type": "function_call", "call_id": name, "name": tool, "arguments": dump(given)}
    ended = item.get("status") != "in_progress"
    return call, {"type": "function_call_output", "call_id": name, "output": result} if ended else None


def _tool(kind: str, item: Wire) -> tuple[str, Any, str]:
    """Return the tool that an item ran, what it was given and what came back."""
    if kind == "command_execution":
        return "shell", {"command": item.get("command")}, text(item, "aggregated_output")
    if kind == "file_change":
        return "apply_patch", {"changes": item.get("changes")}, text(item, "status") or "completed"
    if kind == "mcp_tool_call":
        name = "__".join(filter(None, ("mcp", text(item, "server"), text(item, "tool"))))
        return name, item.get("arguments"), text_of(item.get("result") or item.get("error"))
    if kind == "todo_list":
        return "update_plan", {"plan": item.get("items")}, "Plan updated"
    return "", None, ""


def _usage(figures: Mapping[str, int]) -> Usage:
    given, cached, answered, reasoned = (figures.get(key) for key in _FIGURES)
    return Usage(given, cached, None, answered, reasoned)


def _is_event(value: Any) -> bool:
    kind = text(value, "type")
    return kind in EVENTS or kind.startswith(("thread.", "turn.", "item."))


def _is_own(value: Any) -> bool:
    return _is_event(value) and value["type"] != "error"


FORMAT = Format("codex_exec", "Codex exec event streams", sniff, one_session(_Thread))
