"""What DeepSeek's chat messages and tools cost beside their texts, with its own tokenizer.

DeepSeek publishes how it renders a request (the encoding that comes with V3.2's weights); its marks are single tokens,
which part the text between them. Rendered so, a whole prompt of V3.2 whose tools were not recorded was short of the
reported tokens by the same 300 in all 156 calls of one recording, which are the rendered tool and its frame. In another
174 of 187 steps are equal; in the 13 others names were replaced after the recording. Arguments stand as raw values, not
as JSON. Assumed, as no recording tells: V4 renders alike, and what a request says of reasoning is all sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..deepseek_vocabulary import DEEPSEEK
from ..tokens import Counter, TiktokenCounter
from ..wire import text_of
from .base import Cost, Message, Part, PartKind, ToolDefinition
from .unread import part_tokens, unread_tokens

PRIMING = 1
"""The token that begins every prompt."""
USER_FRAME = 3
"""Begin of the user's words, begin of the reply, end of the reasoning that is none."""
REPLY_FRAME = 1
THINKING_FRAME = 1
TOOLS_FRAME = 247
"""How to call a tool, said once where any is defined."""
IMAGE_TOKENS = 0  # its API takes none
MARK = 1
"""A mark of the markup around calls."""

_BEFORE_CALLS = "\n\n<"
_CALLS_OPEN, _CALLS_CLOSE = "function_calls>\n<", "function_calls>"
_RESULTS_OPEN, _RESULTS_CLOSE = "\n\n<function_results>\n", "</function_results>\n\n"


def is_deepseeks(counter: Counter) -> bool:
    """Return whether a counter counts with DeepSeek's vocabulary, so that its rendering applies."""
    return isinstance(counter, TiktokenCounter) and counter.encoding_name == DEEPSEEK


def cost_of_messages(messages: Sequence[Message], counter: Counter) -> Cost:
    """Return the cost in tokens of a plain message, or of a reply with its results."""
    rows, overhead = [], 0
    for message in messages:
        costs = list(_parts(message, counter))
        rows.append(tuple(own for own, _ in costs))
        overhead += sum(frame for _, frame in costs) + _frame(message, counter)
    lists = counter.count(_RESULTS_OPEN) + counter.count(_RESULTS_CLOSE) + THINKING_FRAME
    return Cost(tuple(rows), overhead + lists * _result_lists(messages))


def _result_lists(messages: Sequence[Message]) -> int:
    """Return how many lists the results stand in: those of a reply in one, any other by itself, wherever it stands."""
    waiting: list[str] = []
    found, in_list = 0, False
    for message in messages:
        waiting += [call.call_id for call in message.calls]
        answers = False
        for result in message.results if message.role == "tool" else ():
            match = next((call for call in waiting if result.call_id in ("", call)), None)
            if match is not None:
                waiting.remove(match)
                answers = True
        found += message.role == "tool" and not (answers and in_list)
        in_list = answers
    return found


def _frame(message: Message, counter: Counter) -> int:
    if message.role in ("tool", "system"):
        return 0
    if message.role != "assistant":
        return USER_FRAME
    return REPLY_FRAME + (_calls_frame(message, counter) if message.calls else 0)


def _calls_frame(message: Message, counter: Counter) -> int:
    """Return what stands around the calls of a reply."""
    between = sum(MARK + counter.count("invoke>\n<") for _ in message.calls)
    around = counter.count(_BEFORE_CALLS) + counter.count(_CALLS_OPEN) + counter.count(_CALLS_CLOSE)
    return around + between + 2 * MARK


def _parts(message: Message, counter: Counter) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each part, and those of its own markup."""
    texts = [place for place, part in enumerate(message.parts) if part.kind is PartKind.TEXT]
    shares = _text_shares([message.parts[place].text for place in texts], bool(message.calls), counter)
    own = dict(zip(texts, shares, strict=True))
    for place, part in enumerate(message.parts):
        if place in own:
            yield own[place], 0
        elif part.kind is PartKind.TOOL_CALL:
            yield _call(part, counter)
        elif part.kind is PartKind.TOOL_RESULT and message.role == "tool":
            yield _result(part, counter)
        else:
            frame = THINKING_FRAME if part.kind is PartKind.THINKING else 0
            yield part_tokens(part, counter, IMAGE_TOKENS), frame


def _text_shares(texts: Sequence[str], before_calls: bool, counter: Counter) -> list[int]:
    """Return the tokens of the texts of a message; before calls, the last one and the markup may share a token."""
    if not texts or not before_calls:
        return counter.pieces(texts)
    *others, last = counter.pieces([*texts[:-1], texts[-1] + _BEFORE_CALLS])
    return [*others, max(0, last - counter.count(_BEFORE_CALLS))]


def _call(call: Part, counter: Counter) -> tuple[int, int]:
    """Return the tokens of a call's name and arguments, and of the markup around each."""
    own, frame = _within('invoke name="', call.name, '">\n<', counter)
    frame += MARK
    for name, value in arguments(call).items():
        kind = "true" if isinstance(value, str) else "false"
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        tokens, markup = _within(f'parameter name="{name}" string="{kind}">', text, "</", counter)
        own += tokens
        frame += markup + counter.count("parameter>\n<") + 2 * MARK
    return own, frame


def _within(before: str, text: str, after: str, counter: Counter) -> tuple[int, int]:
    """Return the tokens of a text and of the markup around it, which may share some; both add up to the whole."""
    whole = counter.count(before + text + after)
    frame = min(whole, counter.count(before + after))
    return whole - frame, frame


def arguments(call: Part) -> Mapping[str, Any]:
    """Return the arguments of a call by name; one without a name if they are no JSON object."""
    try:
        value = json.loads(call.text or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"": call.text}


def _result(result: Part, counter: Counter) -> tuple[int, int]:
    own, frame = _within("<result>", result.text, "</result>\n", counter)
    return own + unread_tokens(result, IMAGE_TOKENS), frame


def cost_of_tools(tools: Sequence[ToolDefinition], counter: Counter) -> Cost:
    """Return the cost in tokens of definitions, each a line of JSON; what explains them is overhead."""
    if not tools:
        return Cost(((),), 0)
    return Cost((tuple(counter.count(_function(tool) + "\n") for tool in tools),), TOOLS_FRAME)


def _function(tool: ToolDefinition) -> str:
    try:
        value = json.loads(tool.text)
    except (ValueError, RecursionError):
        return tool.text
    body = value.get("function", value) if isinstance(value, dict) else value
    return json.dumps(body, ensure_ascii=False) if isinstance(body, dict) else text_of(body)
