"""From a request body to spans: the named blocks of a prompt that can be kept or removed one by one.

Span ids are positions in the full history, which grows at its end only, so a span keeps its id from call to call and
a stub that names it stays true.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from . import marks
from .dialects.base import Dialect, Message, Part, PartKind
from .rules import NOTHING_SAID, Rule, Tier, Treatment, treatment
from .sections import sections
from .tokens import Counter
from .wire import Wire


class SpanKind(StrEnum):
    """What a span is, in the order in which charts stack them: the fixed part first."""

    OVERHEAD = "overhead"
    INSTRUCTIONS = "instructions"
    TOOL_DEFINITION = "tool_definition"
    EXAMPLES = "examples"
    MEMORY = "memory"
    SUMMARY = "summary"
    RETRIEVAL = "retrieval"
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"
    OTHER = "other"


OVERHEAD_ID = "overhead"


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """One block of a prompt. `tokens` are its own, without frames; `message` and `part` say where it stands.

    `message` counts in the conversation; -1 is the fixed part (system and tools), where `part` is the index of the
    system text, of what stands beside the texts, or of the tool.
    """

    id: str
    kind: SpanKind
    name: str
    text: str
    tokens: int
    role: str
    message: int
    part: int
    tool: str = ""
    call_id: str = ""
    rule: Treatment = NOTHING_SAID

    @property
    def shown(self) -> str:
        """The text for people; where there is none, what stands there, as far as the request names it."""
        what = _WITHOUT_TEXT.get(self.kind, "")
        if self.text or not what or self.name == SpanKind.OTHER:
            return self.text
        media = f", {self.name}" if "/" in self.name else ""
        return f"{what}{media}. It has no text."


_WITHOUT_TEXT = {SpanKind.IMAGE: "An image", SpanKind.OTHER: "A file"}

EMPTY = Part(PartKind.TEXT)
TOLD_BY = "tool"
"""The tool of a result told as text that does not name it."""

_PLAIN_KINDS = {
    PartKind.THINKING: SpanKind.THINKING,
    PartKind.TOOL_CALL: SpanKind.TOOL_CALL,
    PartKind.TOOL_RESULT: SpanKind.TOOL_RESULT,
    PartKind.IMAGE: SpanKind.IMAGE,
    PartKind.FILE: SpanKind.OTHER,
    PartKind.OPAQUE: SpanKind.OTHER,
}
_TEXT_KINDS = {"system": SpanKind.INSTRUCTIONS, "user": SpanKind.USER, "assistant": SpanKind.ASSISTANT}
_RETRIEVED = frozenset({Tier.CONTEXTUAL, Tier.KNOWLEDGE})


def span_kind(part: Part, role: str) -> SpanKind:
    """Return the kind of a message part."""
    if part.told:
        return SpanKind.TOOL_RESULT
    if part.kind is not PartKind.TEXT:
        return _PLAIN_KINDS[part.kind]
    if marks.is_summary(part.text):
        return SpanKind.SUMMARY
    return _TEXT_KINDS.get(role, SpanKind.OTHER)


def unit_spans(messages: Sequence[Message], first: int, costs: Iterable[int], rules: Sequence[Rule]) -> list[Span]:
    """Return the spans of a unit's messages, the first of which is message `first` of the conversation.

    A message without parts is an empty span, so that it does not go without a word.
    """
    names = {call.call_id: call.name for message in messages for call in message.calls}
    lone = next(iter(names.values())) if len(names) == 1 else ""
    found, tokens = [], iter(costs)
    for index, message in enumerate(messages, start=first):
        for place, part in enumerate(message.parts or (EMPTY,)):
            count, tool = next(tokens), part.name
            if part.kind is PartKind.TOOL_RESULT:
                tool = names.get(part.call_id) or part.name or lone
            elif part.told:
                tool = part.name or lone or TOLD_BY
            found.append(_message_span(part, message.role, index, place, tool, count, rules))
    return found


def _message_span(part: Part, role: str, index: int, place: int, tool: str, tokens: int, rules: Sequence[Rule]) -> Span:
    span_id, kind = f"m{index}.{place}", span_kind(part, role)
    said = NOTHING_SAID
    if rules:
        said = treatment(rules, (span_id, part.call_id), kind, role, tool, "", part.text)
    if said.tier in _RETRIEVED and kind in (SpanKind.TOOL_RESULT, SpanKind.USER):
        kind = SpanKind.RETRIEVAL
    name = tool or part.name or kind.value
    return Span(span_id, kind, name, part.text, tokens, role, index, place, tool, part.call_id, said)


@dataclass(frozen=True, slots=True, eq=False)
class FixedPart:
    """The system texts and tool definitions of a request: what every call carries."""

    head: Wire
    spans: tuple[Span, ...]
    overhead: int
    tokens: int
    source: FixedPart | None = None
    """The part before shrinkers, where they changed it."""
    shrunk: Mapping[str, Any] = field(default_factory=dict)
    """What shrinkers put into its sections, by span id."""
    memo: dict[Any, Any] = field(default_factory=dict)
    """What was found out about it; no part of its value."""

    @property
    def sections(self) -> list[Span]:
        """The sections of the system texts, in order."""
        return [span for span in self.spans if span.id.startswith(SECTION)]

    @property
    def parts(self) -> list[Span]:
        """What the system part holds beside its texts, in the request's order."""
        return [span for span in self.spans if span.id.startswith(HEAD_PART)]

    @property
    def tools(self) -> list[Span]:
        """The tool definitions, in the request's order."""
        return [span for span in self.spans if span.kind is SpanKind.TOOL_DEFINITION]


SECTION, HEAD_PART = "s", "h"
"""How the ids of sections begin, and those of what the system part holds beside its texts."""


def fixed_part(
    head: Wire, dialect: Dialect, counter: Counter, model: str | None, rules: Sequence[Rule] = ()
) -> FixedPart:
    """Return the spans of a head, system sections first, and the tokens of all frames in `overhead`."""
    texts = [sections(text) for text in dialect.system_texts(head)]
    system = dialect.cost_of_system(head, counter, [[section.text for section in text] for text in texts])
    definitions = dialect.tools(head)
    tools = dialect.cost_of_tools(definitions, counter)
    spans = [
        _section_span(text, section.name, section.text, section.is_examples, tokens, place, rules)
        for text, (named, costs) in enumerate(zip(texts, system.parts, strict=True))
        for place, (section, tokens) in enumerate(zip(named, costs, strict=True))
    ]
    spans += [_head_span(part, place, dialect, counter, rules) for place, part in enumerate(dialect.head_parts(head))]
    for tool, tokens in zip(definitions, tools.parts[0], strict=True):
        said = treatment(rules, (f"t{tool.place}",), SpanKind.TOOL_DEFINITION, "system", tool.name, "", tool.text)
        spans.append(
            Span(
                f"t{tool.place}",
                SpanKind.TOOL_DEFINITION,
                tool.name,
                tool.text,
                tokens,
                "system",
                -1,
                tool.place,
                tool.name,
                rule=said,
            )
        )
    overhead = system.overhead + tools.overhead + dialect.request_overhead(model, counter)
    return FixedPart(head, tuple(spans), overhead, sum(span.tokens for span in spans) + overhead)


def _section_span(
    text: int, name: str, content: str, examples: bool, tokens: int, place: int, rules: Sequence[Rule]
) -> Span:
    kind = SpanKind.EXAMPLES if examples else SpanKind.INSTRUCTIONS
    if marks.is_summary(content):
        kind = SpanKind.SUMMARY
    span_id = f"{SECTION}{text}.{place}"
    said = treatment(rules, (span_id,), kind, "system", "", name, content)
    return Span(span_id, kind, name, content, tokens, "system", -1, text, rule=said)


def _head_span(part: Part, place: int, dialect: Dialect, counter: Counter, rules: Sequence[Rule]) -> Span:
    """Return a part of the system part that is no text; it counts what it would in a message."""
    tokens = dialect.cost_of_messages([Message("system", (part,))], counter).parts[0][0]
    span_id, kind = f"{HEAD_PART}{place}", span_kind(part, "system")
    said = treatment(rules, (span_id,), kind, "system", part.name, "", part.text)
    return Span(span_id, kind, part.name or kind.value, part.text, tokens, "system", -1, place, rule=said)
