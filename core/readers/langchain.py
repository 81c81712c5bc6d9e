"""LangChain: lists of its messages, and recorded turns of its agents.

A list is what an agent's state held, so its calls are inferred: one for each message that a model gave. Tools are
never in it. A recording of turns holds what was answered, and of what was asked the first question alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..transcript import Fidelity, Transcript
from ..wire import Wire
from ..wording import agreeing, counted
from . import langchain_messages
from .chat_wire import paired
from .event_log import EventLog
from .fields import inner, listed, text
from .formats import Format, Reading, share
from .records import Record
from .trace_calls import NO_PROMPT

NO_RESULTS = "tool results not recorded"
SESSIONS = ("thread_id", "session_id", "conversation_id", "id")


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are LangChain's."""
    return 0.94 * share(
        values, lambda value: bool(_lists(value)) or langchain_messages.is_message(value) or _turns(value)
    )


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield each list of messages as a transcript; messages that come one a record are one list."""
    loose: list[Wire] = []
    for record in reading.records:
        if langchain_messages.is_message(record.value):
            loose.append(record.value)
        elif not _lists(record.value) and not _turns(record.value):
            expected = "A list of messages with `type` and `content` was expected; it was left out."
            reading.report.broken("this is no list of LangChain messages", expected, place=record.place)
            continue
        reading.report.used()
        if _turns(record.value):
            yield from _recorded(record, reading)
        for number, messages in enumerate(_lists(record.value), 1):
            place = ", ".join(filter(None, (record.place, f"list {number}" if number > 1 else "")))
            yield conversation(messages, reading, place, text(record.value, *SESSIONS))
    if loose:
        yield conversation(loose, reading, "", "")


def conversation(
    messages: Sequence[Any],
    reading: Reading,
    place: str,
    session: str,
    title: str = "",
    meta: Mapping[str, Any] | None = None,
) -> Transcript:
    """Return a list of messages as a transcript: each message that a model gave is a call."""
    log = EventLog("openai_chat", reading)
    kept = [(number, one) for number, one in enumerate(messages, 1) if langchain_messages.is_message(one)]
    if len(kept) < len(messages):
        lost = len(messages) - len(kept)
        told = f"{lost:,} of {counted(len(messages), 'message')} {agreeing(lost, 'is', 'are')} of no known kind"
        reading.report.add(told, f"{agreeing(lost, 'It was', 'They were')} left out.", place=place, warning=True)
    kept = [(number, one) for number, one in kept if langchain_messages.role_of(one) != "remove"]
    wires = paired(langchain_messages.to_chat(one) for _, one in kept)
    answered = any(langchain_messages.is_answered(one) for _, one in kept)
    for (number, one), wire in zip(kept, wires, strict=True):
        within = ", ".join(filter(None, (place, f"message {number}")))
        if wire["role"] == "assistant" and (langchain_messages.is_answered(one) or not answered):
            usage, model = langchain_messages.usage_of(one), langchain_messages.model_of(one) or ""
            log.reply([wire], within, usage=usage, model=model, fidelity=_fidelity(log, wires))
        else:
            log.say(wire, within)
    return log.transcript(session=session, title=title, meta=meta)


def _fidelity(log: EventLog, wires: Sequence[Wire]) -> Fidelity:
    """Without tools and with a system prompt, a list is all that was sent, as far as a list tells."""
    called = any(wire.get("tool_calls") for wire in wires)
    return Fidelity.PARTIAL if called or not log.at.lead else Fidelity.RECONSTRUCTED


def _lists(value: Any) -> list[list[Any]]:
    """Return the lists of messages in a record: one, or those of a batch."""
    if isinstance(value, Mapping):
        owners = (value, inner(value, "input"), inner(value, "output"))
        keys = ("messages", "chat_history", "history")
        return next((found for owner in owners for key in keys if (found := _of_list(owner.get(key)))), [])
    return _of_list(value)


def _of_list(value: Any) -> list[list[Any]]:
    if not isinstance(value, list):
        return []
    if any(map(langchain_messages.is_message, value)):
        return [value]
    return [one for one in value if isinstance(one, list) and any(map(langchain_messages.is_message, one))]


def _turns(value: Any) -> bool:
    return any(langchain_messages.is_message(inner(turn, "output")) for turn in listed(value, "turns"))


def _recorded(record: Record, reading: Reading) -> Iterator[Transcript]:
    """Yield the replies of each caller; the one with the most was asked the question that is recorded."""
    by_caller = _replies(record, reading)
    main = max(by_caller, key=lambda caller: (len(by_caller[caller]), -list(by_caller).index(caller)))
    session = text(record.value, "scenario") or reading.stem or "recording"
    question = text(record.value, "prompt")
    for caller, replies in by_caller.items():
        log = EventLog("openai_chat", reading)
        if caller == main and question:
            log.say({"role": "user", "content": question}, record.place)
        else:
            log.notes.append(NO_PROMPT)
        for reply in replies:
            wire, model = langchain_messages.to_chat(reply), langchain_messages.model_of(reply) or ""
            log.reply([wire], record.place, usage=langchain_messages.usage_of(reply), model=model)
        if any(reply.get("tool_calls") for reply in log.builder.messages):
            log.notes.append(NO_RESULTS)
        side = {} if caller == main else {"parent_session": session}
        named = session if caller == main else f"{session}/{caller}"
        yield log.transcript(session=named, title="" if caller == main else caller, meta={**side, "agent": caller})


def _replies(record: Record, reading: Reading) -> dict[str, list[Wire]]:
    """Return the replies by their caller; turns without one are told."""
    by_caller: dict[str, list[Wire]] = {}
    left = 0
    for turn in listed(record.value, "turns"):
        output = inner(turn, "output")
        if langchain_messages.is_message(output):
            by_caller.setdefault(text(turn, "caller") or "agent", []).append(output)
        else:
            left += 1
    if left:
        reading.report.add(
            f"{counted(left, 'turn', 'holds', 'hold')} no reply",
            f"{agreeing(left, 'It was', 'They were')} left out.",
            place=record.place,
            warning=True,
        )
    return by_caller


FORMAT = Format("langchain", "LangChain messages", sniff, read)
