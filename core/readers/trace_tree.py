"""Spans of a trace: which of them are calls to a model, and which agent made each.

A call is often recorded at several levels, by a framework, a client library and an agent that sums its calls up. Only
the innermost span that says something of a call is one; what stands around it, and what stands in it and says
nothing, is not counted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any


class Weight(IntEnum):
    """How much a span says of a call to a model."""

    NONE = 0
    SUMMARY = 1  # an agent or a wrapper that may stand for several calls
    CALL = 2


@dataclass(frozen=True, slots=True)
class Node:
    """One span. `value` is what the format keeps of it."""

    id: str
    parent: str = ""
    name: str = ""
    weight: Weight = Weight.NONE
    agent: str = ""
    """The agent's name, where the span is one's work."""
    start: datetime | None = None
    place: str = ""
    value: Any = field(default=None, compare=False)


class Tree:
    """The spans of one trace."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = list(nodes)
        self.by_id: Mapping[str, Node] = {node.id: node for node in self.nodes if node.id}

    def calls(self) -> list[Node]:
        """Return the spans that are calls: none that holds another one; summaries only where there is no call."""
        found = [node for node in self.nodes if node.weight is Weight.CALL]
        found = found or [node for node in self.nodes if node.weight is Weight.SUMMARY]
        around = {above.id for node in found for above in self.above(node)}
        return [node for node in found if node.id not in around]

    def above(self, node: Node) -> list[Node]:
        """Return the spans around one, the nearest first; a trace that bites its own tail ends there."""
        found: list[Node] = []
        seen = {node.id}
        above = self.by_id.get(node.parent)
        while above is not None and above.id not in seen:
            found.append(above)
            seen.add(above.id)
            above = self.by_id.get(above.parent)
        return found

    def agent(self, node: Node) -> str:
        """Return the name of the agent that made a call; empty where the trace tells none."""
        return node.agent or next((above.agent for above in self.above(node) if above.agent), "")
