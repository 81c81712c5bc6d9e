"""Events of OpenAI Responses, joined to their response.

The event at the end holds the whole response, and the one at an item's end the whole item. A stream that broke off
has neither, so what its deltas said is put into the fields that they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..wire import Wire
from .stream_parts import grow, index_of, not_read, object_of

__all__ = ["FIELDS", "join"]

COMMAND = "shell_call_command"


class Field(NamedTuple):
    """Where a delta's text stands: in a field of an item, or in one of the parts that the field lists."""

    item: str
    """The type of the item, should the stream not have begun it."""
    name: str
    counter: str = ""
    """The event's key for the number of the part; empty where the field is the text."""
    part: str = ""
    """The type of the part."""
    text: str = ""
    """The part's field."""


FIELDS = {
    "output_text": Field("message", "content", "content_index", "output_text", "text"),
    "refusal": Field("message", "content", "content_index", "refusal", "refusal"),
    "reasoning_text": Field("reasoning", "content", "content_index", "reasoning_text", "text"),
    "reasoning_summary_text": Field("reasoning", "summary", "summary_index", "summary_text", "text"),
    "function_call_arguments": Field("function_call", "arguments"),
    "mcp_call_arguments": Field("mcp_call", "arguments"),
    "mcp_call.arguments": Field("mcp_call", "arguments"),
    "custom_tool_call_input": Field("custom_tool_call", "input"),
    "code_interpreter_call_code": Field("code_interpreter_call", "code"),
    "code_interpreter_call.code": Field("code_interpreter_call", "code"),
    COMMAND: Field("shell_call", "commands", "command_index"),
    "shell_call_output_content": Field("shell_call_output", "output", "command_index"),
}
"""The fields by what the events of their deltas are called, between `response.` and `.delta` or `.done`."""
ADDED = {
    "content_part": (Field("message", "content", "content_index"), "part"),
    "reasoning_summary_part": (Field("reasoning", "summary", "summary_index"), "part"),
    COMMAND: (Field("shell_call", "commands", "command_index"), "command"),
    "output_text.annotation": (
        Field("message", "content", "content_index", "output_text", "annotations"),
        "annotation",
    ),
}
"""What an event adds whole, by what it is called: a part, or an annotation of one; and the event's key for it."""
ENDED = ("content_part", "reasoning_summary_part")
"""What an event gives whole once more at its end."""
LISTS = ("content", "summary", "output")
_NOWHERE = Field("", "")


def join(events: Sequence[Wire]) -> dict[str, Any]:
    """Return the response that events of one stream make up."""
    response: dict[str, Any] = {}
    items: dict[int, _Item] = {}
    for event in events:
        kind, index = str(event.get("type")), index_of(event.get("output_index"))
        if isinstance(event.get("response"), Mapping):
            response = {**response, **event["response"]}
        elif kind.startswith("response.output_item.") and isinstance(event.get("item"), Mapping):
            items[index] = _Item(event["item"])
        elif kind.startswith("response."):
            _take(items, index, kind.removeprefix("response."), event)
    if not response.get("output"):
        listed = [items[index] for index in sorted(items)]
        response["output"] = [item.wire() for item in listed if item.given]
        response |= not_read(kind for item in listed for kind in item.not_read)
    return {"object": "response", **response}


class _Item:
    """An item as it was given last, and what was said of it since."""

    def __init__(self, given: Wire) -> None:
        self.given = dict(given)
        commands = object_of(given, "action").get("commands")
        lists = {name: given.get(name) for name in LISTS} | {"commands": commands}
        self.lists = {name: dict(enumerate(found)) for name, found in lists.items() if isinstance(found, list)}
        self.not_read: dict[str, None] = {}

    def wire(self) -> Wire:
        """Return the item with all its parts in order."""
        lists = {name: [parts[at] for at in sorted(parts)] for name, parts in self.lists.items()}
        commands = lists.pop("commands", None)
        action = {} if commands is None else {"action": {**object_of(self.given, "action"), "commands": commands}}
        return {**self.given, **lists, **action}

    def put(self, field: Field, event: Wire, said: Any, whole: bool) -> None:
        """Put in what an event said of a field: all of it, or what comes next."""
        self.given = self.given or _begun(field, event)
        owner: dict[Any, Any] = self.lists.setdefault(field.name, {}) if field.counter else self.given
        key: Any = index_of(event.get(field.counter)) if field.counter else field.name
        if field.part:
            known = owner.get(key)
            owner[key] = {"type": field.part, **(known if isinstance(known, Mapping) else {})}
            owner, key = owner[key], field.text
        if whole:
            owner[key] = said
        else:
            grow(owner, {key: said})


def _take(items: dict[int, _Item], index: int, kind: str, event: Wire) -> None:
    """Take in an event that says something of an item. One that only tells how far it is says nothing."""
    item = items.get(index) or _Item({})
    told = _told(kind, event)
    if told is not None:
        item.put(told.field, event, told.said, told.whole)
    elif "delta" in event or kind.endswith((".delta", ".partial_image")):
        item.not_read[f"response.{kind}"] = None
    else:
        return
    items[index] = item


class _Told(NamedTuple):
    field: Field
    said: Any
    whole: bool


def _told(kind: str, event: Wire) -> _Told | None:
    """Return what an event says and where that belongs; None if it says nothing that is known."""
    stem, _, ending = kind.rpartition(".")
    if stem in ADDED and (ending == "added" or stem in ENDED):
        field, key = ADDED[stem]
        listed = field.text == "annotations"
        return _Told(field, [event[key]] if listed else event[key], not listed) if event.get(key) is not None else None
    field = FIELDS.get(stem, _NOWHERE)
    said = event.get("delta" if ending == "delta" else "command" if stem == COMMAND else field.text or field.name)
    known = field is not _NOWHERE and ending in ("delta", "done") and isinstance(said, str | Mapping)
    return _Told(field, said, ending == "done") if known else None


def _begun(field: Field, event: Wire) -> dict[str, Any]:
    """Return the beginning of an item whose own beginning is not in the stream."""
    named = {"id": event["item_id"]} if isinstance(event.get("item_id"), str) else {}
    role = {"role": "assistant"} if field.item == "message" else {}
    return {"type": field.item, **named, **role}
