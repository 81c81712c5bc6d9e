"""Exports of opencode: `{"info", "messages": [{"info", "parts"}]}`; one assistant message is one model call.

Parts do not always stand in order, but their ids do. A tool part holds the call and its result together; where its
output was pruned from the window (`time.compacted`), later prompts hold a short note instead. opencode speaks to many
providers, so the messages are written as OpenAI chat takes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Fidelity, Transcript, Usage
from ..wire import Wire, dump
from ..wording import agreeing, counted
from .event_log import EventLog, Ignored
from .fields import inner, listed, objects, text
from .figures import figure
from .formats import Format, Reading, share
from .times import parse_time

COMPACTED = "What did we do so far?"
"""What opencode asks in the place of the compacted messages."""
CLEARED = "[Old tool result content cleared]"
SILENT = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "retry", "subtask", "compaction"})
"""Parts that say how the work went and are no content."""


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are exports of opencode."""
    return 0.97 * share(values, _is_export)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield each session."""
    for record in reading.records:
        sessions = record.value if isinstance(record.value, list) else [record.value]
        if any(map(_is_export, sessions)):
            reading.report.used()
            for session in filter(_is_export, sessions):
                yield from _Session(session, record.place, reading).transcript()
        else:
            expected = "An object with `info` and `messages` was expected; it was left out."
            reading.report.broken("this is no session of opencode", expected, place=record.place)


class _Session:
    """One exported session."""

    def __init__(self, session: Wire, place: str, reading: Reading) -> None:
        self.info = inner(session, "info")
        self.messages = objects(session, "messages")
        self.reading = reading
        self.place = place
        self.ignored = Ignored(reading, SILENT | {"text/ignored"})
        self.log = EventLog("openai_chat", reading)
        self.log.started = parse_time(inner(self.info, "time").get("created"))
        self._pruned: dict[str, float] = {}
        lost = len(listed(session, "messages")) - len(self.messages)
        if lost:
            reading.report.add(
                counted(lost, "message", "is no object", "are no objects"),
                f"{agreeing(lost, 'It was', 'They were')} left out.",
                place=place,
            )

    def transcript(self) -> Iterator[Transcript]:
        """Yield the session, if it has messages."""
        for number, message in enumerate(sorted(self.messages, key=_created), 1):
            place = ", ".join(filter(None, (self.place, f"message {number}")))
            self._message(inner(message, "info"), _ordered(objects(message, "parts")), place)
        ignored = self.ignored.tell()
        if not self.log.builder.messages and not self.log.calls:
            return
        found = {key: text(self.info, key) for key in ("directory", "version", "slug")}
        found["parent_session"] = text(self.info, "parentID")
        meta = {**{key: value for key, value in found.items() if value}, **({"ignored": ignored} if ignored else {})}
        yield self.log.transcript(title=text(self.info, "title"), session=text(self.info, "id"), meta=meta)

    def _message(self, info: Wire, parts: list[Wire], place: str) -> None:
        role = text(info, "role")
        if role == "user":
            self._user(info, parts, place)
        elif role == "assistant":
            self._assistant(info, parts, place)
        else:
            expected = "The role user or assistant was expected; the message was left out."
            self.reading.report.add(f"the role {role[:40]!r} is not known", expected, place=place)

    def _user(self, info: Wire, parts: list[Wire], place: str) -> None:
        if text(info, "system"):
            self.log.lead({"role": "system", "content": text(info, "system")})
        content = [block for part in parts if (block := self._block(part)) is not None]
        for part in parts:
            self._known(part, place)
        if content:
            only = len(content) == 1 and content[0].get("type") == "text"
            self.log.say({"role": "user", "content": content[0]["text"] if only else content}, place)

    def _assistant(self, info: Wire, parts: list[Wire], place: str) -> None:
        for part in parts:
            self._known(part, place)
        self._clear(_number(inner(info, "time").get("created")))
        said = [block["text"] for part in parts if (block := self._block(part)) and block["type"] == "text"]
        thought = [text(part, "text") for part in parts if part.get("type") == "reasoning" and text(part, "text")]
        tools = [part for part in parts if part.get("type") == "tool"]
        reply: dict[str, Any] = {"role": "assistant", "content": "".join(said) or (None if tools else "")}
        if thought:
            reply["reasoning_content"] = "\n".join(thought)
        if tools:
            reply["tool_calls"] = [_call(part) for part in tools]
        if not (said or thought or tools or _has_usage(info)):
            self.ignored.add("text/ignored", place, counted=False)
            return
        self.log.reply(
            [reply],
            place,
            usage=_usage(info),
            model=text(info, "modelID") or text(inner(info, "model"), "modelID"),
            at=parse_time(inner(info, "time").get("completed") or inner(info, "time").get("created")),
            fidelity=Fidelity.PARTIAL,
        )
        for part in tools:
            if (result := _result(part)) is not None:
                self.log.say(result, place)
            cleared = _number(inner(part, "state", "time").get("compacted"))
            if result is not None and cleared:
                self._pruned[result["tool_call_id"]] = cleared
        if info.get("summary") is True:
            self.log.compact([{"role": "user", "content": COMPACTED}, reply])

    def _clear(self, now: float) -> None:
        """Write a short note in the place of the results that were pruned by now."""
        gone = {name for name, at in self._pruned.items() if at <= now}
        if gone:
            self._pruned = {name: at for name, at in self._pruned.items() if name not in gone}
            window = [
                {**wire, "content": CLEARED} if wire.get("tool_call_id") in gone else wire for wire in self.log.window()
            ]
            self.log.rewrite(window, "old tool results were cleared")

    def _block(self, part: Wire) -> dict[str, Any] | None:
        kind = part.get("type")
        if kind == "text" and part.get("ignored") is not True and text(part, "text"):
            return {"type": "text", "text": part["text"]}
        if kind != "file":
            return None
        if text(part, "mime").startswith("image/"):
            return {"type": "image_url", "image_url": {"url": text(part, "url")}}
        return {
            "type": "file",
            "file": {key: text(part, key) for key in ("filename", "mime", "url") if text(part, key)},
        }

    def _known(self, part: Wire, place: str) -> None:
        kind = text(part, "type")
        if kind == "text" and part.get("ignored") is True:
            self.ignored.add("text/ignored", place, counted=False)
        elif kind not in ("text", "file", "reasoning", "tool"):
            self.ignored.add(kind, place, counted=False)


def _call(part: Wire) -> dict[str, Any]:
    function = {"name": text(part, "tool"), "arguments": dump(inner(part, "state").get("input") or {})}
    return {"id": text(part, "callID") or text(part, "id"), "type": "function", "function": function}


def _result(part: Wire) -> dict[str, Any] | None:
    """Return the result of a tool part; None for a call that was still running."""
    state = inner(part, "state")
    if state.get("status") not in ("completed", "error"):
        return None
    output = state.get("output") if state.get("status") == "completed" else state.get("error")
    called = text(part, "callID") or text(part, "id")
    content: Any = output if isinstance(output, str) else dump(output)
    images = [image for image in objects(state, "attachments") if text(image, "mime").startswith("image/")]
    if images:
        shown = [{"type": "image_url", "image_url": {"url": text(image, "url")}} for image in images]
        content = [{"type": "text", "text": content}, *shown]
    return {"role": "tool", "tool_call_id": called, "content": content}


def _has_usage(info: Wire) -> bool:
    return bool(_usage(info).input)


def _usage(info: Wire) -> Usage:
    """Return the usage of a message: its input leaves out what came from the cache or went into it."""
    tokens = inner(info, "tokens")
    plain, cache = figure(tokens.get("input")), inner(tokens, "cache")
    read, write = figure(cache.get("read")), figure(cache.get("write"))
    if not any((plain, read, write, figure(tokens.get("output")))):
        return Usage()
    return Usage(
        input=None if plain is None else plain + (read or 0) + (write or 0),
        cache_read=read,
        cache_write=write,
        output=figure(tokens.get("output")),
        reasoning=figure(tokens.get("reasoning")),
    )


def _created(message: Wire) -> float:
    return _number(inner(message, "info", "time").get("created"))


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) and value == value else 0.0


def _ordered(parts: list[Wire]) -> list[Wire]:
    return sorted(parts, key=lambda part: text(part, "id"))


def _is_export(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        return False
    typed = [message for message in value["messages"] if isinstance(message, Mapping)]
    return any(isinstance(message.get("info"), Mapping) and "parts" in message for message in typed)


FORMAT = Format("opencode", "opencode exports", sniff, read)
