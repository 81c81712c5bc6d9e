"""What Anthropic messages and tools cost beside their texts: an estimate, as the tokenizer is not public.

The frames were fitted to recorded requests: 7 for a request with one message, 2 for each further one; 346 once and
57 a tool; per call 46 and 14 an argument, whose keys and raw values (not JSON) are counted. With o200k times 1.2 for
the texts, 40 whole recorded requests of Haiku 3.5 and Sonnet 4 came out 0 to 8.3 % too high, none too low. A tool that
is deferred stands in no prompt until a search finds it (the provider's page on tool search), so it costs nothing; what
a search brings in is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..tokens import Counter
from ..wire import text_of
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .content import is_deferred
from .openai_tokens import parsed, raw_part, text_costs
from .unread import part_tokens

REQUEST_FRAME = 5
MESSAGE_FRAME = 2
CALL_FRAME = 46
ARGUMENT_FRAME = 14
TOOLS_FRAME = 346
TOOL_FRAME = 57
IMAGE_TOKENS = 1600  # width x height / 750, at the largest size that is not scaled down


def cost_of_messages(messages: Sequence[Message], counter: Counter) -> Cost:
    """Return the estimated cost in tokens of a plain message, or of a reply with its results."""
    rows, overhead = [], 0
    for message in messages:
        texts = text_costs(message, counter)
        rows.append(tuple(texts[i] if i in texts else _part(part, counter) for i, part in enumerate(message.parts)))
        overhead += _frame(message, counter)
    return Cost(tuple(rows), overhead)


def _part(part: Part, counter: Counter) -> int:
    if not counter.frames:
        return raw_part(part, counter, IMAGE_TOKENS)
    if part.kind is not PartKind.TOOL_CALL:
        return part_tokens(part, counter, IMAGE_TOKENS)
    arguments = _arguments(part)
    texts = [part.name, *arguments, *map(text_of, arguments.values())]
    return sum(counter.count(text) for text in texts if text)


def _arguments(part: Part) -> Mapping[str, Any]:
    value = parsed(part.text or "{}")
    return value if isinstance(value, dict) else {"": part.text}


def _frame(message: Message, counter: Counter) -> int:
    if not counter.frames:
        return counter.message_overhead
    return MESSAGE_FRAME + sum(CALL_FRAME + ARGUMENT_FRAME * len(_arguments(call)) for call in message.calls)


def cost_of_tools(tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
    """Return the estimated cost in tokens of definitions: name, description and compact schema of each."""
    if not tools:
        return Cost(((),), 0)
    if not counter.frames:
        return Cost((tuple(counter.count(tool.text) for tool in tools),), 0)
    bodies = [parsed(tool.text) for tool in tools]
    each = tuple(_tool(body, counter) for body in bodies)
    return Cost((each,), TOOLS_FRAME + TOOL_FRAME * sum(not is_deferred(body) for body in bodies))


def _tool(body: Any, counter: Counter) -> int:
    if not isinstance(body, dict):
        return counter.count(text_of(body))
    if is_deferred(body):
        return 0
    texts = [text_of(body.get(key)) for key in ("name", "description", "input_schema")]
    return sum(counter.count(text) for text in texts if text)
