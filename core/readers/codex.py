"""Codex rollouts: JSON Lines of `{"timestamp", "type", "payload"}`, whose response items are the model's true context.

What the screen showed (`event_msg`) repeats items and is left out, except for the token counts: between two different
ones lies one call, whether a version writes the count before the reply or after it. The oldest files hold bare items,
without an envelope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from ..wording import agreeing, counted
from .codex_usage import TokenCounts
from .event_log import EventLog, Ignored, Position
from .fields import inner, listed, objects, text, texts_of
from .formats import Format, Reading, share
from .records import Record
from .sessions import one_session
from .shapes import is_item, is_message
from .times import parse_time

ENVELOPES = frozenset(
    """
    session_meta turn_context response_item event_msg compacted world_state inter_agent_communication_metadata
    """.split()  # noqa: SIM905
)
_KNOWN = ENVELOPES | {"state", "ghost_snapshot", "session", "other"}
_INJECTED = ("<", "# AGENTS.md", "# Context from my IDE")
_IDE_REQUEST = "## My request for Codex:"


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are a rollout of Codex."""
    enveloped = share(values, _is_envelope)
    if enveloped:
        return 0.97 * enveloped
    first = values[0] if values else None
    if isinstance(first, Mapping) and isinstance(first.get("session"), Mapping) and "items" in first:
        return 0.97
    bare = isinstance(first, Mapping) and {"id", "timestamp"} <= first.keys() and "instructions" in first
    return 0.97 * share(values[1:], _is_bare) if bare else 0.0


class _Rollout:
    """What the lines of one rollout say, taken in one after another."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = EventLog("openai_responses", reading)
        self.counts = TokenCounts()
        self.ignored = Ignored(reading, _KNOWN)
        self.meta: Wire = {}
        self.model = ""
        self.title = ""
        self.prompt = ""
        self._reply: list[Wire] = []
        self._place = ""
        self._at: datetime | None = None
        self._replied_at: datetime | None = None
        self._turns: list[Position] = []

    def take(self, record: Record) -> None:
        """Take one line in, and count it."""
        value, report = record.value, self.reading.report
        if isinstance(value, Mapping) and isinstance(value.get("session"), Mapping) and "items" in value:
            self._old_file(value, record.place)
        elif _is_envelope(value):
            self._at = parse_time(value.get("timestamp")) or self._at
            self._enveloped(value["type"], value["payload"], record.place)
        elif _is_bare(value):
            self._bare(value, record.place)
        else:
            expected = "An object with `timestamp`, `type` and `payload` was expected; it was left out."
            report.broken("this is no record of a Codex rollout", expected, place=record.place)

    def _enveloped(self, kind: str, payload: Wire, place: str) -> None:
        if kind == "response_item":
            self._item(payload, place)
        elif kind == "session_meta":
            self._session(payload, place)
        elif kind == "event_msg":
            self._event(payload, place)
        elif kind == "compacted":
            self.reading.report.used()
            self._compacted(payload)
        elif kind == "turn_context" and text(payload, "model"):
            self.reading.report.used()
            self.model = text(payload, "model")
        else:
            self.ignored.add(kind, place)

    def _old_file(self, value: Wire, place: str) -> None:
        """Read the form of April 2025: one document with all items."""
        self.reading.report.used()
        self._start(value["session"])
        for number, item in enumerate(listed(value, "items"), 1):
            if _is_conversation(item):
                self._add(item, ", ".join(filter(None, (place, f"item {number}"))))
            else:
                self.ignored.add(text(item, "type") or "other", place, counted=False)

    def _bare(self, value: Wire, place: str) -> None:
        if "record_type" in value:
            self.ignored.add(text(value, "record_type"), place)
        elif "instructions" in value and "type" not in value:
            self._session(value, place)
        else:
            self._item(value, place)

    def _session(self, payload: Wire, place: str) -> None:
        """The first one is the session's own; a fork or a resumed session repeats those it came from."""
        if self.meta:
            self.ignored.add("session_meta", place)
        else:
            self.reading.report.used()
            self._start(payload)

    def _start(self, payload: Wire) -> None:
        self.meta = payload
        self.log.started = parse_time(payload.get("timestamp"))
        base = text(payload.get("base_instructions"), "text") or text(payload, "base_instructions", "instructions")
        if base:
            self.log.settings["instructions"] = base

    def _item(self, item: Wire, place: str) -> None:
        if _is_conversation(item):
            self.reading.report.used()
            self._add(item, place)
        else:
            self.ignored.add(text(item, "type") or "other", place)

    def _add(self, item: Wire, place: str) -> None:
        message = self.log.builder.dialect.message(item)
        if message.role == "assistant" and item.get("type") != "agent_message":
            self._place = self._place if self._reply else place
            self._replied_at = self._at
            self._reply.append(item)
            return
        self._flush()
        if item.get("role") == "user":
            self._user(item)
        self.log.say(item, place)

    def _user(self, item: Wire) -> None:
        said = texts_of(item.get("content")).strip()
        if _IDE_REQUEST in said:
            said = said.partition(_IDE_REQUEST)[2].strip()
        if said and not said.startswith(_INJECTED):
            self._turns.append(self.log.at)
            self.counts.new_turn()
            self.prompt = self.prompt or said

    def _flush(self) -> None:
        if self._reply:
            reply, self._reply = self._reply, []
            told = self.counts.pending()
            call = self.log.reply(reply, self._place, usage=told, model=self.model, at=self._replied_at)
            self.counts.replied(call, counted=told is not None)

    def _event(self, payload: Wire, place: str) -> None:
        kind = text(payload, "type")
        if kind == "token_count":
            self._flush()
            told = self.counts.take(payload)
            if told is None:
                self.ignored.add("event_msg/token_count", place)
                return
            self.reading.report.used()
            self._attach(told)
        elif kind == "thread_name_updated" and text(payload, "thread_name"):
            self.reading.report.used()
            self.title = text(payload, "thread_name")
        elif kind == "thread_rolled_back":
            self.reading.report.used()
            self._roll_back(payload.get("num_turns"))
        else:
            self.ignored.add(f"event_msg/{kind}", place)

    def _attach(self, usage: Usage) -> None:
        call = self.counts.attach(usage)
        if call is not None:
            self.log.with_usage(call, usage)

    def _roll_back(self, turns: Any) -> None:
        self._flush()
        if isinstance(turns, int) and 0 < turns <= len(self._turns):
            self.log.at = self._turns[-turns]
            del self._turns[-turns:]

    def _compacted(self, payload: Wire) -> None:
        """Begin the window anew. A count that no reply followed is that of the call which wrote the summary."""
        self._flush()
        summary = text(payload, "message")
        told = self.counts.pending()
        if told is not None:
            answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": summary}]}
            before = self.log.at
            self.log.reply([answer], usage=told, model=self.model, at=self._at)
            self.log.at = before
        kept = [item for item in objects(payload, "replacement_history") if _is_conversation(item)]
        if not kept:
            injected = [item for item in self.log.window() if _is_injected(item)]
            kept = [*injected, self.log.builder.dialect.text_message("user", summary)] if summary else injected
        self.log.compact(kept)

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the session, if it holds anything."""
        self._flush()
        ignored = self.ignored.tell()
        if not self.log.calls and not self.log.builder.messages:
            return
        if left := self.counts.left():
            replies = agreeing(left, "its reply", "their replies")
            self.log.notes.append(f"the usage of {counted(left, 'more call')} is recorded without {replies}")
        meta = {**_meta(self.meta), **({"ignored": ignored} if ignored else {})}
        if self.counts.window is not None:
            meta["window"] = self.counts.window
        session = text(self.meta, "id", "session_id")
        yield self.log.transcript(title=self.title, session=session, prompt=self.prompt, meta=meta)


def _meta(session: Wire) -> dict[str, Any]:
    spawned = inner(session, "source", "subagent", "thread_spawn")
    found = {
        "parent_session": text(session, "parent_thread_id") or text(spawned, "parent_thread_id"),
        "agent": text(session, "agent_nickname") or text(spawned, "agent_nickname", "agent_path"),
        "agent_type": text(session, "agent_role") or text(spawned, "agent_role"),
        "forked_from": text(session, "forked_from_id"),
        "cwd": text(session, "cwd"),
        "version": text(session, "cli_version"),
    }
    return {key: value for key, value in found.items() if value}


def _is_envelope(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("payload"), Mapping):
        return False
    return isinstance(value.get("type"), str) and (value["type"] in ENVELOPES or "timestamp" in value)


def _is_bare(value: Any) -> bool:
    if not isinstance(value, Mapping) or "payload" in value:
        return False
    return _is_conversation(value) or "record_type" in value or ("instructions" in value and "id" in value)


def _is_conversation(item: Any) -> bool:
    """Tell whether an item is part of what the model read or wrote, of a kind that is known or may come."""
    if not isinstance(item, Mapping) or not isinstance(item.get("type", "message"), str):
        return False
    kind = item.get("type", "message")
    return is_item(item) or is_message(item) or kind.endswith(("_call", "_output")) or kind == "agent_message"


def _is_injected(item: Wire) -> bool:
    said = texts_of(item.get("content")).lstrip()
    return item.get("role") == "developer" or (item.get("role") == "user" and said.startswith(_INJECTED[:2]))


FORMAT = Format("codex", "Codex rollouts", sniff, one_session(_Rollout))
