"""What OpenAI chat messages and tools cost beside their texts.

The formulas were measured against what the provider reported (text-only prompts equal; tool histories equal once the
fixed part of one call is known; definitions within about 15 tokens): 4 a message, `12 + name + "functions."name +
arguments + result` a single call with its result, 20 plus two JSON renderings a parallel group, 3 for the reply.
Not measured, so assumed: an assistant message with text and calls costs the text's own frame as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..tokens import Counter
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .typescript import namespace_text, tool_text

MESSAGE_FRAME = 4
CALL_FRAME = 7
RESULT_FRAME = 5
PARALLEL_FRAME = 20
TOOLS_FRAME = 8
IMAGE_TOKENS = 765  # 85 + 4 tiles of 170: a picture of up to 1024 x 1024 at high detail
TWO_TOKEN_PRIMING = ("gpt-5", "o3-pro")


def priming(model: str | None) -> int:
    """Return the tokens that start the reply: 3, for gpt-5 and o3-pro 2."""
    return 2 if model and model.startswith(TWO_TOKEN_PRIMING) else 3


def cost_of_messages(messages: Sequence[Message], counter: Counter) -> Cost:
    """Return the cost in tokens of a plain message, or of a reply with its results."""
    if not counter.frames:
        return _without_frames(messages, counter)
    calls = [call for message in messages for call in message.calls]
    if len(calls) > 1:
        return _parallel(messages, calls, counter)
    name = calls[0].name if calls else ""
    costs = [_message(message, name, counter) for message in messages]
    return Cost(tuple(parts for parts, _ in costs), sum(frame for _, frame in costs))


def _message(message: Message, name: str, counter: Counter) -> tuple[tuple[int, ...], int]:
    if message.role == "tool":
        called = next((part.name for part in message.results if part.name), name)
        frame = RESULT_FRAME + counter.count(f"functions.{called}")
        return tuple(_part(part, counter) for part in message.parts), frame
    texts = text_costs(message, counter)
    parts = tuple(texts.get(i, 0) or _part(part, counter) for i, part in enumerate(message.parts))
    return parts, _frame(message, counter)


def _frame(message: Message, counter: Counter) -> int:
    frame = CALL_FRAME * len(message.calls)
    if not message.calls or any(part.kind is PartKind.TEXT for part in message.parts):
        frame += MESSAGE_FRAME
    return frame + (counter.count(message.name) + 1 if message.name else 0)


def text_costs(message: Message, counter: Counter) -> dict[int, int]:
    """Return the tokens of each text part by position; providers join the texts before they count."""
    places = [i for i, part in enumerate(message.parts) if part.kind is PartKind.TEXT]
    if len(places) == 1:
        return {places[0]: counter.count(message.parts[places[0]].text)}
    return dict(zip(places, counter.pieces([message.parts[i].text for i in places]), strict=True))


def _part(part: Part, counter: Counter) -> int:
    if part.kind is PartKind.TOOL_CALL:
        return counter.count(part.name) + counter.count(compact(part.text))
    if part.kind is PartKind.IMAGE:
        return IMAGE_TOKENS if counter.frames else 0
    return counter.count(part.text) if part.text else 0


def compact(arguments: str) -> str:
    """Return arguments as the provider renders them: parsed and dumped without spaces; as they are if not JSON."""
    parsed = _parsed(arguments)
    return arguments if parsed is arguments else json.dumps(parsed, ensure_ascii=False, separators=(",", ":"))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _parallel(messages: Sequence[Message], calls: Sequence[Part], counter: Counter) -> Cost:
    """Count a group of calls and their results as one; the texts beside them count as usual."""
    uses = [f'{{"recipient_name":"functions.{call.name}","parameters":{compact(call.text)}}}' for call in calls]
    answers = [
        json.dumps(_parsed(part.text)) for message in messages if message.role == "tool" for part in message.results
    ]
    total = PARALLEL_FRAME + counter.count('{"tool_uses":[' + ",".join(uses) + "]}")
    total += counter.count("[" + ", ".join(answers) + "]") if answers else 0
    shares = iter([counter.count(text) for text in uses + answers])
    group = (PartKind.TOOL_CALL, PartKind.TOOL_RESULT)
    parts, frames, grouped = [], 0, 0
    for message in messages:
        texts = {} if message.role == "tool" else text_costs(message, counter)
        row = []
        for i, part in enumerate(message.parts):
            tokens = next(shares) if part.kind in group else texts.get(i, 0) or _part(part, counter)
            grouped += tokens if part.kind in group else 0
            row.append(tokens)
        parts.append(row)
        frames += MESSAGE_FRAME if texts else 0
    return _balanced(parts, frames + total - grouped)


def _balanced(parts: list[list[int]], overhead: int) -> Cost:
    """Where parts counted alone exceed the group, the largest part bears the difference: parts must add up."""
    if overhead < 0:
        row = max(parts, key=lambda row: max(row, default=0))
        row[row.index(max(row))] += overhead
        overhead = 0
    return Cost(tuple(tuple(row) for row in parts), overhead)


def _without_frames(messages: Sequence[Message], counter: Counter) -> Cost:
    rows = []
    for message in messages:
        texts = text_costs(message, counter)
        rows.append(tuple(texts.get(i, 0) or raw_part(part, counter) for i, part in enumerate(message.parts)))
    return Cost(tuple(rows), counter.message_overhead * len(messages))


def raw_part(part: Part, counter: Counter) -> int:
    """Return a part's tokens under a counter without frames: name and arguments of a call each by itself."""
    if part.kind is PartKind.TOOL_CALL:
        return counter.count(part.name) + counter.count(part.text)
    return counter.count(part.text) if part.text else 0


def cost_of_tools(tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
    """Return the cost in tokens of definitions; the namespace around them is overhead."""
    if not tools:
        return Cost(((),), 0)
    if not counter.frames:
        return Cost((tuple(counter.count(tool.text) for tool in tools),), 0)
    functions = [_function(json.loads(tool.text)) for tool in tools]
    each = [counter.count(tool_text(function)) for function in functions]
    total = counter.count(namespace_text(functions)) + TOOLS_FRAME
    return _balanced([each], total - sum(each))


def _function(tool: Any) -> Mapping[str, Any]:
    body = tool.get("function", tool) if isinstance(tool, Mapping) else {}
    return body if isinstance(body, Mapping) else {}
