"""The screen of a Cline or Roo task (`ui_messages.json`), and the task's metadata, which holds no messages.

Each `api_req_started` is one request: its text holds what the user's side sent and what the call cost. What the
assistant wrote is shown in pieces, its tool calls as a description; results are shown too and stand in the next
request, so they are not taken twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from .cline_roo import task_of
from .event_log import EventLog
from .fields import inner, text
from .figures import figure
from .formats import Format, Reading, share
from .records import Record
from .times import parse_time

SPOKEN = frozenset({"text", "completion_result"})
CALLED = frozenset({"tool", "command", "use_mcp_server", "browser_action_launch", "followup", "plan_mode_respond"})
METADATA = frozenset({"files_in_context", "model_usage", "environment_history"})


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are the screen, or the metadata, of a Cline or Roo task."""
    return 0.97 * share(values, lambda value: _is_screen(value) or _is_metadata(value))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield the task that each screen shows."""
    for record in reading.records:
        if _is_screen(record.value):
            reading.report.used()
            yield from _Screen(reading, record).transcript()
        elif _is_metadata(record.value):
            expected = "Give `api_conversation_history.json` or `ui_messages.json` of the same task folder."
            reading.report.broken("this is the metadata of a task, without messages", expected, place=record.place)
        else:
            expected = "A list of objects with `ts` and `say` or `ask` was expected; it was left out."
            reading.report.broken("this is no screen of a Cline or Roo task", expected, place=record.place)


class _Screen:
    def __init__(self, reading: Reading, record: Record) -> None:
        self.reading = reading
        self.record = record
        self.log = EventLog("anthropic", reading)
        self.ignored: Counter[str] = Counter()
        self.prompt = ""
        self._said: list[Wire] = []
        self._usage: Usage | None = None
        self._at: Any = None
        self._place = ""
        self._deleted: list[Any] = []

    def transcript(self) -> Iterator[Transcript]:
        """Yield the task, if it holds a request."""
        for number, shown in enumerate(self.record.value, 1):
            place = ", ".join(filter(None, (self.record.place, f"message {number}")))
            if isinstance(shown, Mapping):
                self._take(shown, place)
            else:
                self.reading.report.add("this is no object", "It was left out.", place=place)
        self._flush()
        if not self.log.calls:
            self.reading.report.add("the task holds no request", "Give the API history of the same task folder.")
            return
        meta = {"ignored": dict(self.ignored)} if self.ignored else {}
        yield self.log.transcript(prompt=self.prompt, meta=meta)

    def _take(self, shown: Wire, place: str) -> None:
        kind = text(shown, "say") or text(shown, "ask")
        self.log.started = self.log.started or parse_time(shown.get("ts"))
        if shown.get("say") == "api_req_started":
            self._request(shown, place)
        elif self._usage is None and not self.prompt and kind in ("text", "task"):
            self.prompt = text(shown, "text")
            self.ignored[kind] += 1
        elif shown.get("say") == "condense_context":
            self._flush()
            summary = text(inner(shown, "contextCondense"), "summary") or text(shown, "text")
            self.log.compact([{"role": "user", "content": [{"type": "text", "text": summary}]}] if summary else [])
        elif self._usage is not None and self._piece(kind, shown) is not None:
            self._said.append(self._piece(kind, shown) or {})
        else:
            self.ignored[kind or "other"] += 1

    def _piece(self, kind: str, shown: Wire) -> Wire | None:
        """Return what the assistant wrote as a block; None for what others wrote."""
        said = text(shown, "text")
        if not said or (shown.get("partial") is True and kind != "reasoning"):
            return None
        if kind == "reasoning":
            return {"type": "thinking", "thinking": said}
        taken = ("say" in shown and kind in SPOKEN) or ("ask" in shown and kind in CALLED)
        return {"type": "text", "text": said} if taken else None

    def _request(self, shown: Wire, place: str) -> None:
        self._flush()
        facts = _parsed(text(shown, "text"))
        sent = text(facts, "request")
        self.prompt = self.prompt or task_of(sent)
        self._cut(shown.get("conversationHistoryDeletedRange"))
        if sent:
            self.log.say({"role": "user", "content": [{"type": "text", "text": sent}]}, place)
        else:
            self.reading.report.add(
                "the request's text is missing", "Its prompt is incomplete.", place=place, warning=True
            )
        self._usage, self._at, self._place = _usage(facts), parse_time(shown.get("ts")), place

    def _cut(self, deleted: Any) -> None:
        """Leave out of the window what Cline says that it left out: messages by their first and last number."""
        if not isinstance(deleted, list) or len(deleted) != 2 or deleted == self._deleted:
            return
        first, last = deleted
        happened = [self.log.builder.messages[node] for node in self.log.builder.path(self.log.at.happened)]
        if isinstance(first, int) and isinstance(last, int) and 0 <= first <= last < len(happened):
            self._deleted = deleted
            self.log.rewrite([*happened[:first], *happened[last + 1 :]], "old messages were left out of the prompt")

    def _flush(self) -> None:
        """Add the call whose pieces were shown since its request."""
        if self._usage is None:
            return
        said, self._said = self._said, []
        kept = [block for block in said if block["type"] != "thinking"]
        answer, later = ([{"role": "assistant", "content": blocks}] if blocks else [] for blocks in (said, kept))
        self.log.reply(answer, self._place, usage=self._usage, at=self._at, kept=later)
        self._usage = None


def _usage(facts: Wire) -> Usage:
    """Return the usage of a request: the protocol says whether its input includes what came from the cache."""
    given, output = figure(facts.get("tokensIn")), figure(facts.get("tokensOut"))
    read, write = figure(facts.get("cacheReads")), figure(facts.get("cacheWrites"))
    if given is not None and facts.get("apiProtocol") != "openai":
        given += (read or 0) + (write or 0)
    return Usage(given, read, write, output)


def _parsed(said: str) -> Wire:
    try:
        value = json.loads(said, strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _is_screen(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and share(value, _is_shown) > 0.5


def _is_shown(value: Any) -> bool:
    return isinstance(value, Mapping) and "ts" in value and value.get("type") in ("say", "ask")


def _is_metadata(value: Any) -> bool:
    return isinstance(value, Mapping) and "files_in_context" in value and value.keys() <= METADATA


FORMAT = Format("cline_ui", "screens of Cline and Roo tasks", sniff, read)
