"""Chats of the Vercel AI SDK: what its interfaces show and store, and what its models were given.

One message of an interface holds all steps of an answer, each a call to the model. The system prompt and the tools
stand in the program, rarely in the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire
from . import vercel_messages
from .chat_wire import paired
from .event_log import EventLog
from .fields import inner, text
from .figures import figure
from .formats import Format, Reading, share
from .times import parse_time

SESSIONS = ("id", "chatId", "chat_id", "sessionId", "session_id")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are of this SDK."""
    return 0.95 * share(values, lambda value: vercel_messages.is_message(value) or _is_chat(_messages(value)))


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield each chat; messages that come one a record are one chat."""
    loose: list[Wire] = []
    for record in reading.records:
        value, place = record.value, record.place
        messages = _messages(value)
        if isinstance(value, Mapping) and _is_plain(value):
            loose.append(value)
            reading.report.used()
        elif messages:
            reading.report.used()
            yield _chat(messages, reading, place, text(value, *SESSIONS) if isinstance(value, Mapping) else "")
        else:
            expected = "A list of messages with `role` and `parts` or `content` was expected; it was left out."
            reading.report.broken("this is no chat of the Vercel AI SDK", expected, place=place)
    if loose:
        yield _chat(loose, reading, "", "")


def _messages(value: Any) -> list[Wire]:
    listed = value.get("messages") if isinstance(value, Mapping) else value
    return [one for one in listed if isinstance(one, Mapping) and _is_plain(one)] if isinstance(listed, list) else []


def _is_chat(messages: list[Wire]) -> bool:
    return any(map(vercel_messages.is_message, messages))


def _is_plain(value: Wire) -> bool:
    return isinstance(value.get("role"), str) and any(key in value for key in ("content", "parts", "toolInvocations"))


def _chat(messages: list[Wire], reading: Reading, place: str, session: str) -> Transcript:
    log = EventLog("openai_chat", reading)
    split = [vercel_messages.to_chat(one) for one in messages]
    wires = iter(paired(wire for group in split for wire in group))
    for number, (one, group) in enumerate(zip(messages, split, strict=True), 1):
        within = ", ".join(filter(None, (place, f"message {number}")))
        replies = sum(wire.get("role") == "assistant" for wire in group)
        for wire in (next(wires) for _ in group):
            if wire.get("role") == "assistant":
                usage = _usage(one) if replies == 1 else Usage()
                at = parse_time(one.get("createdAt") or inner(one, "metadata").get("createdAt"))
                log.reply([wire], within, usage=usage, model=text(inner(one, "metadata"), "model", "modelId"), at=at)
            else:
                log.say(wire, within)
    return log.transcript(session=session)


def _usage(message: Wire) -> Usage:
    """Return the usage that an interface kept with a message; with several steps in it, it would be their sum."""
    metadata = inner(message, "metadata")
    told = inner(metadata, "usage") or inner(metadata, "totalUsage")
    details = inner(told, "inputTokenDetails")
    return Usage(
        input=_first(told, "inputTokens", "promptTokens"),
        cache_read=_first({**told, **details}, "cachedInputTokens", "cacheReadTokens"),
        cache_write=_first(details, "cacheWriteTokens"),
        output=_first(told, "outputTokens", "completionTokens"),
        reasoning=_first(told, "reasoningTokens"),
    )


def _first(told: Wire, *keys: str) -> int | None:
    return next((number for key in keys if (number := figure(told.get(key))) is not None), None)


FORMAT = Format("vercel_ai", "chats of the Vercel AI SDK", sniff, read)
