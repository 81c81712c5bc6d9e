"""What OpenAI chat messages and tools cost beside their texts.

The formulas were measured against what the provider reported (text-only prompts equal; tool histories equal once the
fixed part of one call is known; definitions within about 15 tokens): 4 a message, `12 + name + "functions."name +
arguments + result` a single call with its result, 20 plus two JSON renderings a parallel group, 3 for the reply.
Not measured, so assumed: an assistant message with text and calls costs the text's own frame as well.

GPT-5 and the open-weight models render calls in the published "harmony" form: `10 + "commentary to=functions."name" " +
"functions."name + arguments as they came + result`, and 2 more for a text beside calls. So 16 of 18 steps of one
recording are equal (GPT-5 behind a gateway, Responses) and 7 of 11 of another (GPT-5.2, Chat Completions); the formula
above is short by 4 to 6 in each. No parallel calls were to be measured: they are assumed to be calls one by one.
"""

from __future__ import annotations

import json
from collections import Counter as Counts
from collections.abc import Mapping, Sequence
from typing import Any

from ..tokens import HARMONY, Counter, TiktokenCounter, is_deepseek
from . import deepseek_tokens
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .content import is_deferred
from .typescript import namespace_text, tool_text
from .unread import part_tokens

MESSAGE_FRAME = 4
CALL_FRAME = 7
RESULT_FRAME = 5
HARMONY_CALL_FRAME = 5
PREAMBLE_FRAME = 2
"""What marks a text as said beside calls, in the harmony form."""
PARALLEL_FRAME = 20
TOOLS_FRAME = 8
IMAGE_TOKENS = 765  # 85 + 4 tiles of 170: a picture of up to 1024 x 1024 at high detail
UNFRAMED = frozenset({PartKind.THINKING, PartKind.OPAQUE})
"""What stands beside a reply and is no message of its own."""
TWO_TOKEN_PRIMING = ("gpt-5", "o3-pro")


def priming(model: str | None) -> int:
    """Return the tokens that start the reply: 3, for gpt-5 and o3-pro 2. DeepSeek has one, at the prompt's start."""
    if is_deepseek(model):
        return deepseek_tokens.PRIMING
    return 2 if model and model.startswith(TWO_TOKEN_PRIMING) else 3


def cost_of_messages(messages: Sequence[Message], counter: Counter) -> Cost:
    """Return the cost in tokens of a plain message, or of a reply with its results."""
    if not counter.frames:
        return _without_frames(messages, counter)
    if deepseek_tokens.is_deepseeks(counter):
        return deepseek_tokens.cost_of_messages(messages, counter)
    answers, replies = _answers(messages), _replies(messages)
    calls: Counts[int] = Counts()
    for at, start in replies.items():
        calls[start] += len(messages[at].calls)
    rows, overhead = [], _preambles(messages, replies, calls) if is_harmony(counter) else 0
    for at, message in enumerate(messages):
        home, called = answers.get(at, (at, ""))
        reply = replies.get(home, at)
        grouped = calls[reply] > 1 and not is_harmony(counter)
        parts, frame = _grouped(message, counter) if grouped else _message(message, called, counter)
        rows.append(parts)
        overhead += frame
        if grouped and at == reply:
            overhead += _joints(messages, reply, replies, answers, counter)
    return _balanced(rows, overhead)


def is_harmony(counter: Counter) -> bool:
    """Return whether a counter is one of the models that render calls in the harmony form."""
    return isinstance(counter, TiktokenCounter) and counter.encoding_name == HARMONY


def _preambles(messages: Sequence[Message], replies: Mapping[int, int], calls: Counts[int]) -> int:
    """Return what the texts of replies that go on to call cost beside those of replies that end there."""
    beside = [messages[at] for at, reply in replies.items() if calls[reply]]
    return PREAMBLE_FRAME * sum(any(part.kind is PartKind.TEXT for part in message.parts) for message in beside)


def _replies(messages: Sequence[Message]) -> dict[int, int]:
    """Return the messages of the assistant with the place where their reply begins: neighbours are one reply.

    What a strategy put in is a reply of its own, so that it counts the same before whatever is kept behind it.
    """
    found: dict[int, int] = {}
    for at, message in enumerate(messages):
        if message.role == "assistant" or message.calls:
            apart = message.is_stand_in or (at > 0 and messages[at - 1].is_stand_in)
            found[at] = at if apart else found.get(at - 1, at)
    return found


def _answers(messages: Sequence[Message]) -> dict[int, tuple[int, str]]:
    """Return the messages that answer a call, with the place of the call and its name.

    The first result with a call's id answers it, or the next one without any. Further results are counted by
    themselves, so that they cost the same wherever they stand.
    """
    waiting: list[tuple[int, Part]] = []
    found: dict[int, tuple[int, str]] = {}
    for at, message in enumerate(messages):
        waiting += [(at, call) for call in message.calls]
        for result in message.results if message.role == "tool" else ():
            match = next((made for made in waiting if result.call_id in ("", made[1].call_id)), None)
            if match is not None:
                waiting.remove(match)
                found[at] = (match[0], match[1].name)
    return found


def _message(message: Message, called: str, counter: Counter) -> tuple[list[int], int]:
    if message.role == "tool":
        name = next((part.name for part in message.results if part.name), called)
        return [_part(part, counter) for part in message.parts], RESULT_FRAME + counter.count(f"functions.{name}")
    texts = text_costs(message, counter)
    row = [texts[i] if i in texts else _part(part, counter) for i, part in enumerate(message.parts)]
    return row, _frame(message, counter)


def _frame(message: Message, counter: Counter) -> int:
    if message.parts and all(part.kind in UNFRAMED for part in message.parts):
        return 0
    harmony = is_harmony(counter)
    frame = sum(_harmony_call(call, counter) if harmony else CALL_FRAME for call in message.calls)
    if not message.calls or any(part.kind is PartKind.TEXT for part in message.parts):
        frame += MESSAGE_FRAME
    return frame + (counter.count(message.name) + 1 if message.name else 0)


def _harmony_call(call: Part, counter: Counter) -> int:
    addressed = counter.count(f"commentary to=functions.{call.name} ")
    return HARMONY_CALL_FRAME + max(0, addressed - counter.count(call.name))


def text_costs(message: Message, counter: Counter) -> dict[int, int]:
    """Return the tokens of each text part by position; providers join the texts before they count."""
    places = [i for i, part in enumerate(message.parts) if part.kind is PartKind.TEXT]
    if len(places) == 1:
        return {places[0]: counter.count(message.parts[places[0]].text)}
    return dict(zip(places, counter.pieces([message.parts[i].text for i in places]), strict=True))


def _part(part: Part, counter: Counter) -> int:
    if part.kind is PartKind.TOOL_CALL:
        arguments = part.text if is_harmony(counter) else compact(part.text)
        return counter.count(part.name) + counter.count(arguments)
    return part_tokens(part, counter, IMAGE_TOKENS)


def compact(arguments: str) -> str:
    """Return arguments as the provider renders them: parsed and dumped without spaces; as they are if not JSON."""
    value = parsed(arguments)
    return arguments if value is arguments else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parsed(text: str) -> Any:
    """Return the value of a JSON text; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _grouped(message: Message, counter: Counter) -> tuple[list[int], int]:
    """Count a reply with parallel calls, or one of their results; its other texts cost what they always cost."""
    texts = {} if message.role == "tool" else text_costs(message, counter)
    row = []
    for i, part in enumerate(message.parts):
        rendered = _rendered(part)
        alone = _part(part, counter) if rendered is None else counter.count(rendered)
        row.append(texts.get(i, alone))
    return row, MESSAGE_FRAME if texts else 0


def _rendered(part: Part) -> str | None:
    """Return how a call or a result stands in the list of its group; None for any other part."""
    if part.kind is PartKind.TOOL_CALL:
        return f'{{"recipient_name":"functions.{part.name}","parameters":{compact(part.text)}}}'
    return json.dumps(parsed(part.text)) if part.kind is PartKind.TOOL_RESULT else None


def _joints(
    messages: Sequence[Message],
    reply: int,
    replies: Mapping[int, int],
    answers: Mapping[int, tuple[int, str]],
    counter: Counter,
) -> int:
    """Return what a group of parallel calls costs beside its calls and results, which make two lists."""
    calls = [part for at, start in replies.items() if start == reply for part in messages[at].calls]
    results = [part for at, (home, _) in answers.items() if replies[home] == reply for part in messages[at].results]
    uses, found = [str(_rendered(part)) for part in calls], [str(_rendered(part)) for part in results]
    tokens = PARALLEL_FRAME + counter.count('{"tool_uses":[' + ",".join(uses) + "]}")
    tokens += counter.count("[" + ", ".join(found) + "]") if found else 0
    return tokens - sum(map(counter.count, uses + found))


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
        rows.append(
            tuple(
                texts[i] if i in texts else raw_part(part, counter, IMAGE_TOKENS)
                for i, part in enumerate(message.parts)
            )
        )
    return Cost(tuple(rows), counter.message_overhead * len(messages))


def raw_part(part: Part, counter: Counter, image: int) -> int:
    """Return a part's tokens under a counter without frames: name and arguments of a call each by itself.

    `image` is the dialect's figure for a picture, which counts whatever the texts are counted with.
    """
    if part.kind is PartKind.TOOL_CALL:
        return counter.count(part.name) + counter.count(part.text)
    return part_tokens(part, counter, image)


def cost_of_system(texts: Sequence[Sequence[str]], counter: Counter, messages: Sequence[Message]) -> Cost:
    """Return the cost in tokens of system texts, section by section, each a message of its own.

    `messages` are those of the request as read; the other texts are plain. What names and the like add is overhead.
    """
    frame = MESSAGE_FRAME if counter.frames else counter.message_overhead
    if deepseek_tokens.is_deepseeks(counter):
        frame = 0
    overhead = frame * (len(texts) - len(messages)) + sum(_beside(message, counter) for message in messages)
    return Cost(tuple(tuple(counter.pieces(sections)) for sections in texts), overhead)


def _beside(message: Message, counter: Counter) -> int:
    """Return what a system message costs beside the text of its content and its other parts, each a span of its own."""
    content = "".join(part.text for part in message.parts if part.kind is PartKind.TEXT and part.place >= 0)
    others = [part for part in message.parts if part.kind is not PartKind.TEXT]
    alone = sum(cost_of_messages([Message("system", (part,))], counter).parts[0][0] for part in others)
    return cost_of_messages([message], counter).total - alone - (counter.count(content) if content else 0)


def cost_of_tools(tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
    """Return the cost in tokens of definitions; the namespace around them is overhead."""
    if not tools:
        return Cost(((),), 0)
    if not counter.frames:
        return Cost((tuple(counter.count(tool.text) for tool in tools),), 0)
    if deepseek_tokens.is_deepseeks(counter):
        return deepseek_tokens.cost_of_tools(tools, counter)
    functions = [_in_prompt(_function(parsed(tool.text))) for tool in tools]
    each = [counter.count(tool_text(function)) for function in functions]
    total = counter.count(namespace_text(functions)) + TOOLS_FRAME
    return _balanced([each], total - sum(each))


def _in_prompt(function: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the model sees of a function: of a deferred one its name and description (guide on tool search)."""
    return {**function, "parameters": None} if is_deferred(function) else function


def _function(tool: Any) -> Mapping[str, Any]:
    body = tool.get("function", tool) if isinstance(tool, Mapping) else {}
    return body if isinstance(body, Mapping) else {}
