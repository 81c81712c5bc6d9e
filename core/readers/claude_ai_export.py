"""claude.ai exports: `{"uuid", "name", "chat_messages": [{"sender", "content", "parent_message_uuid"}]}`, or a list.

An answer holds the tools that were used within it, calls and results one after the other; they are taken apart again,
so that each request to the model is a call. Text that was extracted from attachments was part of the prompt; of other
files only the name is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from .chat_branches import Tree, with_alternatives
from .event_log import EventLog
from .fields import listed, objects, text
from .formats import Format, Reading, share
from .rows import Unused, read_rows, sample_rows, within
from .times import parse_time

SENDERS = {"human": "user", "user": "user", "assistant": "assistant"}
SHOWN_ONLY = frozenset({"token_budget", "flag"})
"""Content of the interface that no model reads."""
EXPECTED = "A chat with `uuid` and `chat_messages` was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are chats of claude.ai."""
    return 0.95 * share(sample_rows(values), _is_chat)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a chat."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    chat = _Chat(reading, row, place)
    if not chat.messages:
        raise Unused("the chat holds no messages", "Chats that were never begun were left out.")
    yield chat.transcript()


class _Chat:
    def __init__(self, reading: Reading, row: Wire, place: str) -> None:
        self.row = row
        self.place = place
        self.log = EventLog("anthropic", reading)
        self.linked = False
        """Messages name those before them."""
        self.messages: dict[str, tuple[int, Wire]] = {}
        """By id: the message and its number in the file."""
        for number, message in enumerate(listed(row, "chat_messages"), 1):
            if text(message, "sender") in SENDERS:
                self.messages.setdefault(text(message, "uuid") or f"message {number}", (number, message))
            else:
                expected = "A message with a sender was expected; it was left out."
                here = within(place, f"message {number}")
                reading.report.add("this is no message of a chat", expected, place=here)

    def transcript(self) -> Transcript:
        """Return the visible branch, with the others beside it."""
        tree, last = Tree(self._parents()), list(self.messages)[-1]
        leaf = text(self.row, "current_leaf_message_uuid") if self.linked else last
        visible = tree.path(leaf if leaf in self.messages else last)
        sizes = {}
        for name in visible:
            self._add(*self.messages[name])
            sizes[name] = len(self.log.builder.messages)
        self.log.may_have_tools = any(
            "tool_use" in map(_kind, objects(m, "content")) for _, m in self.messages.values()
        )
        self.log.started = parse_time(self.row.get("created_at"))
        kept = {key: self.row[key] for key in ("summary", "updated_at") if self.row.get(key)}
        title, session = text(self.row, "name"), text(self.row, "uuid")
        return with_alternatives(self.log, tree, visible, sizes, self._wires, title=title, session=session, meta=kept)

    def _parents(self) -> dict[str, str]:
        """Return each message's parent; where no message names one that is there, they follow one another."""
        names = list(self.messages)
        named = {name: text(message, "parent_message_uuid") for name, (_, message) in self.messages.items()}
        self.linked = any(parent in self.messages for parent in named.values())
        if self.linked:
            return named
        return dict(zip(names, ["", *names], strict=False))

    def _add(self, number: int, message: Wire) -> None:
        here, at = within(self.place, f"message {number}"), parse_time(message.get("created_at"))
        wires = _wires(message)
        if not wires:
            self.log.reading.report.add("the message holds nothing", "It was left out.", place=here, warning=True)
        for wire in wires:
            if wire["role"] == "assistant":
                self.log.reply([wire], here, model=text(self.row, "model"), at=at)
            else:
                self.log.say(wire, here)

    def _wires(self, names: Sequence[str]) -> list[Wire]:
        return [wire for name in names for wire in _wires(self.messages[name][1])]


def _wires(message: Wire) -> list[Wire]:
    """Return the wire messages of one message of the chat: an answer with tools in it is several."""
    role = SENDERS[text(message, "sender")]
    blocks = [block for block in objects(message, "content") if _kind(block) not in SHOWN_ONLY]
    said = _blocks(blocks, text(message, "uuid"))
    if not said and text(message, "text"):
        said = [{"type": "text", "text": message["text"]}]
    made = [*_attached(message), *said]
    if role == "user":
        return [{"role": "user", "content": _slim(made)}] if made else []
    found: list[dict[str, Any]] = []
    for block in made:
        owner = "user" if block.get("type") == "tool_result" else "assistant"
        if not found or found[-1]["role"] != owner:
            found.append({"role": owner, "content": []})
        found[-1]["content"].append(block)
    return [{**wire, "content": _slim(wire["content"])} for wire in found]


def _blocks(blocks: Sequence[Wire], name: str) -> list[dict[str, Any]]:
    """Return blocks as the API has them; calls without an id get one by their place."""
    found: list[dict[str, Any]] = []
    open_calls: list[str] = []
    for number, block in enumerate(blocks):
        kind = _kind(block)
        if kind == "text":
            found += [{"type": "text", "text": text(block, "text")}] if text(block, "text") else []
        elif kind == "thinking":
            found.append({"type": "thinking", "thinking": text(block, "thinking")})
        elif kind == "tool_use":
            call_id = text(block, "id") or f"toolu_{name[:8]}_{number}"
            open_calls.append(call_id)
            found.append({"type": kind, "id": call_id, "name": text(block, "name"), "input": block.get("input") or {}})
        elif kind == "tool_result":
            call_id = text(block, "tool_use_id") or (open_calls[0] if open_calls else "")
            open_calls = [other for other in open_calls if other != call_id]
            found.append(_result(block, call_id))
        else:
            found.append(dict(block))
    return found


def _result(block: Wire, call_id: str) -> dict[str, Any]:
    content = block.get("content")
    if isinstance(content, list):
        content = [_plain_text(part) for part in content]
    wire = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {**wire, "is_error": True} if block.get("is_error") is True else wire


def _plain_text(part: Any) -> Any:
    return {"type": "text", "text": text(part, "text")} if _kind(part) == "text" else part


def _attached(message: Wire) -> list[dict[str, Any]]:
    """Return what was attached: extracted text as it was read, other files by their name and id."""
    found: list[dict[str, Any]] = []
    for attachment in objects(message, "attachments"):
        said, name = text(attachment, "extracted_content"), text(attachment, "file_name")
        if said:
            found.append({"type": "text", "text": f'<document name="{name}">\n{said}\n</document>'})
    for file in objects(message, "files") or objects(message, "files_v2"):
        kind = "image" if text(file, "file_kind") == "image" else "document"
        found.append({"type": kind, "source": {"type": "file", "file_id": text(file, "file_uuid", "file_name")}})
    return found


def _slim(blocks: list[dict[str, Any]]) -> Any:
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0].keys() == {"type", "text"} else blocks


def _kind(block: Any) -> str:
    return text(block, "type")


def _is_chat(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("chat_messages"), list) and "uuid" in row


FORMAT = Format("claude_ai_export", "claude.ai exports", sniff, read)
