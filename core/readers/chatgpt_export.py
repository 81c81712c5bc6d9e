"""ChatGPT exports: `{"title", "mapping": {id: {"message", "parent", "children"}}, "current_node"}`, or a list.

The visible branch goes from `current_node` up to the root. What the model wrote for one answer stands in several
nodes (thoughts, text, calls of tools by `recipient`), which are one reply; a tool's nodes carry no id and answer the
calls in order. Nodes of weight 0 were not sent. Of the system prompt only the user's own instructions are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Transcript
from ..wire import Wire
from ..wording import agreeing, counted
from .chat_branches import Tree, with_alternatives
from .chat_wire import merged, paired
from .chatgpt_nodes import is_shown_only, node_wire
from .event_log import EventLog
from .fields import inner, listed, text
from .formats import Format, Reading, share
from .rows import Unused, read_rows, sample_rows, within
from .times import parse_time

OWN_INSTRUCTIONS = "of the system prompt only the user's own instructions are recorded"
EXPECTED = "A chat with `mapping` and `current_node` was expected."


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are chats of ChatGPT."""
    return 0.95 * share(sample_rows(values), _is_chat)


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a chat."""
    return read_rows(reading, partial(_read_row, reading), EXPECTED)


def _read_row(reading: Reading, row: Wire, place: str) -> Iterator[Transcript]:
    nodes = {name: node for name, node in inner(row, "mapping").items() if isinstance(node, Mapping)}
    if lost := len(inner(row, "mapping")) - len(nodes):
        reading.report.add(
            f"{counted(lost, 'node')} of the chat {agreeing(lost, 'is no object', 'are no objects')}",
            f"{agreeing(lost, 'It was', 'They were')} left out.",
            place=place,
        )
    tree = Tree(_parents(nodes))
    leaf = text(row, "current_node")
    visible = tree.path(leaf if leaf in nodes else next(reversed(nodes), ""))
    chat = _Chat(reading, row, nodes, place)
    sizes = chat.add(visible)
    if not chat.log.builder.messages:
        raise Unused("the chat holds no messages", "Chats that were never begun were left out.")
    title, session = text(row, "title"), text(row, "conversation_id", "id")
    yield with_alternatives(chat.log, tree, visible, sizes, chat.wires, title=title, session=session, meta=chat.meta())


def _parents(nodes: Mapping[str, Wire]) -> dict[str, str]:
    """Return each node's parent; savers that leave it out keep the children."""
    above = {
        child: name for name, node in nodes.items() for child in listed(node, "children") if isinstance(child, str)
    }
    return {name: text(node, "parent") or above.get(name, "") for name, node in nodes.items()}


class _Chat:
    def __init__(self, reading: Reading, row: Wire, nodes: Mapping[str, Wire], place: str) -> None:
        self.row = row
        self.nodes = nodes
        self.place = place
        self.log = EventLog("openai_chat", reading)
        self.log.started = parse_time(row.get("create_time"))

    def add(self, names: Sequence[str]) -> dict[str, int]:
        """Add the visible branch; return the messages that stood after each of its nodes."""
        sizes: dict[str, int] = {}
        replies = self._replies(names)
        wires = paired(wire for _, wire in replies)
        self.log.may_have_tools = any(wire.get("tool_calls") for wire in wires)
        for (group, _), wire in zip(replies, wires, strict=True):
            here = within(self.place, f"node {group[-1][:40]}")
            if wire["role"] == "assistant":
                told = inner(self.nodes[group[-1]], "message")
                model = text(inner(told, "metadata"), "model_slug") or text(self.row, "default_model_slug")
                self.log.reply([wire], here, model=model, at=parse_time(told.get("create_time")))
            else:
                self.log.say(wire, here)
            sizes |= dict.fromkeys(group, len(self.log.builder.messages))
        if self.log.at.lead:
            self.log.notes.append(OWN_INSTRUCTIONS)
        return self._filled(names, sizes)

    def _filled(self, names: Sequence[str], sizes: dict[str, int]) -> dict[str, int]:
        """A node that is no message has as many messages after it as the node before."""
        last = 0
        for name in names:
            last = sizes.setdefault(name, last)
        return sizes

    def _replies(self, names: Sequence[str]) -> list[tuple[list[str], Wire]]:
        """Return the messages of a branch, each with its nodes: neighbouring nodes of one answer or tool are one."""
        found: list[tuple[list[str], Wire]] = []
        calls_open = 0
        for name in names:
            wire = node_wire(inner(self.nodes[name], "message"))
            if wire is None:
                continue
            before = found[-1][1] if found else {"role": ""}
            if wire["role"] == "assistant" and before["role"] == "assistant" and not before.get("tool_calls"):
                found[-1] = ([*found[-1][0], name], merged([before, wire]) or wire)
            elif wire["role"] == "tool" and not calls_open:
                found.append(self._loose(found, name, wire))
            else:
                found.append(([name], wire))
            last = found[-1][1]
            calls_open = len(last.get("tool_calls") or ()) if last["role"] == "assistant" else calls_open
            calls_open -= wire["role"] == "tool" and calls_open > 0
        return found

    def _loose(self, found: list[tuple[list[str], Wire]], name: str, wire: Wire) -> tuple[list[str], Wire]:
        """A tool's node that answers no call goes on with the result before it, else it was put in by the service."""
        if found and found[-1][1]["role"] == "tool" and isinstance(found[-1][1]["content"], str):
            group, before = found.pop()
            more = wire["content"] if isinstance(wire["content"], str) else ""
            return [*group, name], {**before, "content": f"{before['content']}\n{more}"}
        return [name], {"role": "system", "content": wire["content"]}

    def wires(self, names: Sequence[str]) -> list[Wire]:
        """Return the messages of a branch."""
        return paired(wire for _, wire in self._replies(names))

    def meta(self) -> dict[str, Any]:
        """Return what else is known of the chat."""
        kept = {key: self.row[key] for key in ("gizmo_id", "update_time", "is_archived") if self.row.get(key)}
        shown = sum(is_shown_only(inner(node, "message")) for node in self.nodes.values())
        return {**kept, **({"not_sent": shown} if shown else {})}


def _is_chat(row: Any) -> bool:
    if not isinstance(row, Mapping) or not isinstance(row.get("mapping"), Mapping):
        return False
    nodes = [node for node in list(row["mapping"].values())[:20] if isinstance(node, Mapping)]
    return "current_node" in row or any("parent" in node and "children" in node for node in nodes)


FORMAT = Format("chatgpt_export", "ChatGPT exports", sniff, read)
