"""What is sent keeps the bytes of the request: untouched objects, unknown keys, cache marks, tools that are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from core.dialects import dialect as dialect_named
from core.plan import Action
from core.runtime import Result
from core.wire import dump
from tests.engine_bodies import LISTS, Wire
from tests.engine_values import UNKNOWN

SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")
FIXED = ("tools", "tool_choice", "toolConfig", *SYSTEM)


def check_wires(config: Mapping[str, Any], body: Wire, dialect: str, result: Result) -> None:
    sent = result.request
    rest = {key: value for key, value in body.items() if key not in (LISTS[dialect], *FIXED)}
    assert rest.items() <= sent.items()
    assert [key for key in sent if key in rest] == list(rest), "the order of keys"
    if not result.plan.changed:
        assert dump(sent) == dump(body)
    check_messages(config, body, dialect, result)
    check_tools(body, dialect, result)
    check_system(body, dialect, result)


def fates(body: Wire, dialect: str, result: Result, gone: tuple[Action, ...]) -> Iterator[tuple[Wire, bool, bool]]:
    """Each message of the conversation: whether it is sent at all, and whether as it was."""
    _, messages = dialect_named(dialect).split(body)
    actions: dict[int, set[Action]] = {}
    for made in result.decisions:
        if made.span_id.startswith("m") and made.span_id[1:2].isdigit():
            actions.setdefault(int(made.span_id[1:].partition(".")[0]), set()).add(made.action)
    for at, wire in enumerate(messages):
        yield wire, not actions[at] & set(gone), actions[at] == {Action.KEEP}


def check_messages(config: Mapping[str, Any], body: Wire, dialect: str, result: Result) -> None:
    """Messages that are kept whole are the very objects, in their order; an edited one keeps what is no text."""
    gone = (Action.DROP, Action.SUMMARISE)
    gone = (*gone, Action.STUB) if config["strategy"]["kind"] == "span_triage" else gone
    listed = body[LISTS[dialect]]
    if isinstance(listed, str):
        return
    notes = set(unknown(result.request))
    spoken = dialect_named(dialect)
    sent = [id(wire) for wire in spoken.split(result.request)[1]]
    kept = []
    for wire, is_sent, is_whole in fates(body, dialect, result, gone):
        if is_sent and is_whole:
            kept.append(id(wire))
        elif is_sent:
            assert set(unknown(wire, without_texts=True)) <= notes, "an unknown key is lost"
    lead = [id(wire) for wire in result.request[LISTS[dialect]]][: -len(sent) or None]
    assert [at for at in [*lead, *sent] if at in set(kept)] == kept, "a kept message is changed, twice, or out of order"


def unknown(value: Any, without_texts: bool = False) -> Iterator[int]:
    """The numbers of all unknown keys in a value; perhaps without those of text parts, which may be replaced."""
    if isinstance(value, Mapping):
        if UNKNOWN in value and not (without_texts and "text" in value):
            yield value[UNKNOWN]
        for inner in value.values():
            yield from unknown(inner, without_texts)
    elif isinstance(value, list):
        for inner in value:
            yield from unknown(inner, without_texts)


def check_tools(body: Wire, dialect: str, result: Result) -> None:
    """Tools that are not deferred are as they were; what is chosen or was called by what is sent is defined."""
    spoken = dialect_named(dialect)
    before, after = (spoken.tools(spoken.split(wire)[0]) for wire in (body, result.request))
    deferred = {made.span_id for made in result.decisions if made.action is Action.DEFER}
    stay = [tool.text for tool in before if f"t{tool.place}" not in deferred]
    assert [tool.text for tool in after] == stay, "tools without a decision"
    if not deferred:
        assert dump(body.get("tools")) == dump(result.request.get("tools"))
    defined, known = {tool.name for tool in before}, {tool.name for tool in after}
    read = [spoken.message(wire) for wire in spoken.split(result.request)[1]]
    called = {call.name for message in read for call in message.calls}
    assert called & defined <= known, "a tool that was called in what is sent"
    assert set(chosen(result.request)) <= known, "a tool that the request insists on"
    if after:
        assert set(chosen(result.request)) == set(chosen(body))
        assert "cache_control" in dump(result.request["tools"]) or "cache_control" not in dump(body["tools"])


def chosen(body: Wire) -> list[str]:
    """The tools that a request names beside their definitions."""
    choice = body.get("tool_choice") or {}
    choice = choice.get("function", choice)
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    return [*([choice["name"]] if "name" in choice else []), *config.get("allowedFunctionNames", ())]


def check_system(body: Wire, dialect: str, result: Result) -> None:
    """Of the system part only texts may go, and with each a decision; the last cache mark moves on."""
    before, after = (system(wire, dialect) for wire in (body, result.request))
    emptied = any(made.span_id.startswith("s") and not made.tokens_after for made in result.decisions)
    lost = set(unknown(before)) - set(unknown(after))
    assert not lost & set(unknown(before, without_texts=True)) or emptied, "an unknown key is lost"
    assert not lost & set(said_once(before)), "an unknown key of a text that is said nowhere else is lost"
    assert not Counter(pictures(before)) - Counter(pictures(after)), "a picture of the system part"
    if after:
        assert "cache_control" in dump(after) or "cache_control" not in dump(before), "no cache mark is left"


def said_once(parts: list[Any]) -> Iterator[int]:
    """The numbers of unknown keys beside texts that nothing else of the system part repeats, examples apart."""
    beside = list(texts(parts))
    lines = Counter(line.strip() for _, text in beside for line in text.splitlines())
    for number, text in beside:
        once = any(lines[line.strip()] == 1 for line in text.splitlines() if line.strip())
        if number is not None and once and "<examples>" not in text:
            yield number


def texts(value: Any) -> Iterator[tuple[int | None, str]]:
    """All texts in a value, with the number of the unknown key beside each."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("text", "content") and isinstance(inner, str):
                yield value.get(UNKNOWN), inner
            else:
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield None, value


def system(body: Wire, dialect: str) -> list[Any]:
    """The system part of a body as it is written."""
    head, _ = dialect_named(dialect).split(body)
    return [*(head.get(LISTS[dialect]) or ()), *(head[key] for key in SYSTEM if key in head)]


def pictures(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "image_url" in value or "inlineData" in value:
            yield dump({key: inner for key, inner in value.items() if key != "cache_control"})  # which moves on
        else:
            for inner in value.values():
                yield from pictures(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pictures(inner)
