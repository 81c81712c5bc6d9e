"""Chats of GitHub Copilot in VS Code: `{"version", "requests": [...]}`, one entry for each turn of the user.

A turn's rounds are the model calls: what was said, the tools that were called, and by call id what came back. Where
the prompt as it was rendered is kept, it stands for what the user typed. Newer versions store patches; a document
without rounds has one call a turn, whose text is what was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Transcript, Usage
from ..wire import Wire, dump
from .event_log import EventLog
from .fields import inner, objects, text, texts_of
from .figures import figure
from .formats import Format, Reading, share
from .times import parse_time


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are chats of Copilot in VS Code."""
    return 0.97 * share(values, _is_chat)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield each chat."""
    for record in reading.records:
        if _is_chat(record.value):
            reading.report.used()
            yield from _chat(record.value, record.place, reading)
        else:
            expected = "An object with `requests` was expected; it was left out."
            reading.report.broken("this is no chat of Copilot", expected, place=record.place)


def _chat(chat: Wire, place: str, reading: Reading) -> Iterator[Transcript]:
    log = EventLog("openai_chat", reading)
    log.started = parse_time(chat.get("creationDate"))
    prompt = ""
    for number, request in enumerate(objects(chat, "requests"), 1):
        where = ", ".join(filter(None, (place, f"message {number}")))
        typed = text(inner(request, "message"), "text") or text(request, "message")
        prompt = prompt or typed
        _turn(log, request, typed, where)
    if log.builder.messages or log.calls:
        title = text(chat, "customTitle")
        yield log.transcript(title=title, session=text(chat, "sessionId"), prompt=prompt)


def _turn(log: EventLog, request: Wire, typed: str, place: str) -> None:
    told = inner(request, "result", "metadata")
    context = texts_of(told.get("renderedGlobalContext"))
    sent = texts_of(told.get("renderedUserMessage")) or typed
    if context and not log.calls:
        log.say({"role": "user", "content": context}, place)
    if sent:
        log.say({"role": "user", "content": sent}, place)
    model, at = text(request, "modelId"), parse_time(request.get("timestamp"))
    results = inner(told, "toolCallResults")
    rounds = objects(told, "toolCallRounds") or [{"response": _shown(request)}]
    for number, made in enumerate(rounds):
        wire = _reply(made)
        if wire is None:
            continue
        usage = _usage(inner(request, "result", "usage")) if len(rounds) == 1 else Usage()
        log.reply([wire], place, usage=usage, model=model, at=at if not number else None)
        for called in objects(wire, "tool_calls"):
            if called["id"] in results:
                shown = results[called["id"]]
                log.say({"role": "tool", "tool_call_id": called["id"], "content": _result(shown)}, place)


def _reply(made: Wire) -> Wire | None:
    said, calls = texts_of(made.get("response"), "value"), objects(made, "toolCalls")
    thought = texts_of(inner(made, "thinking").get("text"))
    if not (said or calls or thought):
        return None
    wire: dict[str, Any] = {"role": "assistant", "content": said or (None if calls else "")}
    if thought:
        wire["reasoning_content"] = thought
    if calls:
        wire["tool_calls"] = [_call(call) for call in calls]
    return wire


def _call(call: Wire) -> Wire:
    given = call.get("arguments")
    named = {"name": text(call, "name"), "arguments": given if isinstance(given, str) else dump(given or {})}
    return {"id": text(call, "id"), "type": "function", "function": named}


def _result(shown: Any) -> str:
    content = shown.get("content") if isinstance(shown, Mapping) else shown
    return texts_of(content, "value") or ("" if content is None else dump(content))


def _shown(request: Wire) -> str:
    """Return the text of a response that has no rounds: the Markdown that was shown."""
    parts = request.get("response")
    found = [_markdown(part) for part in (parts if isinstance(parts, list) else [])]
    return "".join(found)


def _markdown(part: Any) -> str:
    if isinstance(part, Mapping) and part.get("kind") in (None, "markdownContent"):
        return text(part, "value") or text(inner(part, "content"), "value")
    return ""


def _usage(usage: Wire) -> Usage:
    return Usage(input=figure(usage.get("promptTokens")), output=figure(usage.get("completionTokens")))


def _is_chat(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("requests"), list):
        return False
    turns = objects(value, "requests")
    return "requesterUsername" in value or any("requestId" in turn and "message" in turn for turn in turns)


FORMAT = Format("copilot_chat", "Copilot chats of VS Code", sniff, read)
