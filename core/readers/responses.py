"""What a provider's response object says: the assistant's message, the usage, the model and the time.

The providers count differently: OpenAI's `prompt_tokens` includes cached tokens, Anthropic's `input_tokens` does
not. Here `input` always includes them. A figure that is missing is None, never 0, and one that cannot be true is
`Doubtful` until the call is made.

A response of OpenAI Responses is several items; where it is, its message is `{"role": "assistant", "output": items}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from ..transcript import Usage
from ..wire import Wire
from .figures import figure
from .stream_parts import remarks
from .times import parse_time


@dataclass(frozen=True, slots=True)
class ResponseFacts:
    """What a response says. `message` is the assistant's message as it would be sent back in the next request."""

    message: Wire | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    at: datetime | None = None
    dialect: str | None = None
    """The dialect whose response this is; None if it is not one that is known."""
    id: str = ""
    """What later requests may call it, where the provider keeps it."""
    remarks: tuple[tuple[str, str], ...] = ()
    """What it lacks of the stream that it was joined from, and what was done, in sentences."""


def response_facts(response: Any) -> ResponseFacts:
    """Return what a response (an object or its JSON text) says. Never raises: what is not understood is None."""
    if isinstance(response, str):
        response = _parsed(response)
    if not isinstance(response, Mapping):
        return ResponseFacts()
    facts, told = _facts(response), tuple(remarks(response))
    return replace(facts, remarks=told) if told else facts


def _facts(response: Wire) -> ResponseFacts:
    if is_openai_response(response):
        return _openai(response)
    if is_anthropic_response(response):
        return _anthropic(response)
    if is_responses_response(response):
        return _responses(response)
    if is_gemini_response(response):
        return _gemini(response)
    return _ollama(response) if is_ollama_response(response) else ResponseFacts()


def is_openai_response(value: Any) -> bool:
    """Tell whether a value is a chat completion (not a chunk of a stream)."""
    if not isinstance(value, Mapping) or not isinstance(value.get("choices"), list):
        return False
    choice = next((choice for choice in value["choices"] if isinstance(choice, Mapping)), None)
    return value.get("object") == "chat.completion" or (choice is not None and "message" in choice)


def is_anthropic_response(value: Any) -> bool:
    """Tell whether a value is an Anthropic message with the assistant's content."""
    if not isinstance(value, Mapping) or value.get("role") != "assistant" or "content" not in value:
        return False
    return value.get("type") == "message" or "stop_reason" in value


def is_responses_response(value: Any) -> bool:
    """Tell whether a value is a response of OpenAI Responses."""
    return isinstance(value, Mapping) and isinstance(value.get("output"), list) and value.get("object") == "response"


def is_gemini_response(value: Any) -> bool:
    """Tell whether a value is a response of Gemini generateContent (one that was refused has no candidates)."""
    if not isinstance(value, Mapping):
        return False
    return isinstance(value.get("candidates"), list) or bool(_object(value, "usageMetadata"))


def is_ollama_response(value: Any) -> bool:
    """Tell whether a value is a response of Ollama's chat."""
    return isinstance(value, Mapping) and "done" in value and isinstance(value.get("message"), Mapping)


def openai_usage(usage: Any) -> Usage:
    """Return the usage of a chat completion; cached tokens by the names of OpenAI, LiteLLM, DeepSeek and Moonshot."""
    if not isinstance(usage, Mapping):
        return Usage()
    prompt, completion = _object(usage, "prompt_tokens_details"), _object(usage, "completion_tokens_details")
    return Usage(
        input=figure(usage.get("prompt_tokens")),
        cache_read=_first(
            prompt.get("cached_tokens"),
            usage.get("cache_read_input_tokens"),
            usage.get("prompt_cache_hit_tokens"),
            usage.get("cached_tokens"),
        ),
        cache_write=_first(
            usage.get("cache_creation_input_tokens"),
            prompt.get("cache_write_tokens"),
            prompt.get("cache_creation_tokens"),
        ),
        output=figure(usage.get("completion_tokens")),
        reasoning=figure(completion.get("reasoning_tokens")),
    )


class DetailKeys(NamedTuple):
    """Where a provider's usage keeps what its input and output tokens consist of."""

    given: str
    cache_read: str
    cache_write: str
    answered: str
    reasoning: str


RESPONSES = DetailKeys(
    "input_tokens_details", "cached_tokens", "cache_write_tokens", "output_tokens_details", "reasoning_tokens"
)


def detailed_usage(usage: Any, keys: DetailKeys) -> Usage:
    """Return the usage of `input_tokens` and `output_tokens` with their details."""
    if not isinstance(usage, Mapping):
        return Usage()
    given, answered = _object(usage, keys.given), _object(usage, keys.answered)
    return Usage(
        input=figure(usage.get("input_tokens")),
        cache_read=figure(given.get(keys.cache_read)),
        cache_write=figure(given.get(keys.cache_write)),
        output=figure(usage.get("output_tokens")),
        reasoning=figure(answered.get(keys.reasoning)),
    )


def responses_usage(usage: Any) -> Usage:
    """Return the usage of an OpenAI Responses response."""
    return detailed_usage(usage, RESPONSES)


def gemini_usage(usage: Any) -> Usage:
    """Return the usage of a Gemini response: its output leaves out thoughts, its prompt what tools of its own added."""
    if not isinstance(usage, Mapping):
        return Usage()
    prompt = _first(usage.get("promptTokenCount"), usage.get("prompt_token_count"))
    tools = _first(usage.get("toolUsePromptTokenCount"), usage.get("tool_use_prompt_token_count"))
    answer = _first(usage.get("candidatesTokenCount"), usage.get("candidates_token_count"))
    thoughts = _first(usage.get("thoughtsTokenCount"), usage.get("thoughts_token_count"))
    return Usage(
        input=None if prompt is None else prompt + (tools or 0),
        cache_read=_first(usage.get("cachedContentTokenCount"), usage.get("cached_content_token_count")),
        output=None if answer is None and thoughts is None else (answer or 0) + (thoughts or 0),
        reasoning=thoughts,
    )


def anthropic_usage(usage: Any) -> Usage:
    """Return the usage of an Anthropic message; `input` is the whole prompt, cached tokens included.

    Compacting the conversation during the call is billed beside the totals of the message, and is added to them.
    """
    if not isinstance(usage, Mapping):
        return Usage()
    passes = usage.get("iterations")
    rows = [row for row in passes if isinstance(row, Mapping)] if isinstance(passes, list) else []
    compacting = [_anthropic_pass(row) for row in rows if row.get("type") == "compaction"]
    return Usage(*map(_total, *map(astuple, (_anthropic_pass(usage), *compacting))))


def _anthropic_pass(usage: Wire) -> Usage:
    plain, read = figure(usage.get("input_tokens")), figure(usage.get("cache_read_input_tokens"))
    write = _first(usage.get("cache_creation_input_tokens"), _by_life(usage))
    details = _object(usage, "output_tokens_details")
    return Usage(
        input=None if plain is None else plain + (read or 0) + (write or 0),
        cache_read=read,
        cache_write=write,
        output=figure(usage.get("output_tokens")),
        reasoning=_first(details.get("thinking_tokens"), details.get("reasoning_tokens")),
    )


def _total(first: int | None, *others: int | None) -> int | None:
    """Add up, unless what is added to is not known."""
    return None if first is None else first + sum(other or 0 for other in others)


def _openai(response: Wire) -> ResponseFacts:
    choices = [choice for choice in response["choices"] if isinstance(choice, Mapping)]
    message = next((found for choice in choices if isinstance(found := choice.get("message"), Mapping)), None)
    return ResponseFacts(
        message=message if message is None or "role" in message else {"role": "assistant", **message},
        usage=openai_usage(response.get("usage")),
        model=_text(response.get("model")),
        at=parse_time(response.get("created")),
        dialect="openai_chat",
    )


def _anthropic(response: Wire) -> ResponseFacts:
    return ResponseFacts(
        message={"role": "assistant", "content": response["content"]},
        usage=anthropic_usage(response.get("usage")),
        model=_text(response.get("model")),
        at=parse_time(response.get("created_at")),
        dialect="anthropic",
    )


def _responses(response: Wire) -> ResponseFacts:
    items = [item for item in response["output"] if isinstance(item, Mapping)]
    return ResponseFacts(
        message=reply_of_items(items),
        usage=responses_usage(response.get("usage")),
        model=_text(response.get("model")),
        at=parse_time(response.get("created_at")),
        dialect="openai_responses",
        id=_text(response.get("id")) or "",
    )


def reply_of_items(items: Sequence[Wire]) -> Wire | None:
    """Return one wire value for a reply of OpenAI Responses: its item, or all of them in one; None for no item."""
    if len(items) <= 1:
        return items[0] if items else None
    return {"role": "assistant", "output": list(items)}


def _gemini(response: Wire) -> ResponseFacts:
    found = response.get("candidates")
    candidates = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    content = next((content for one in candidates if isinstance(content := one.get("content"), Mapping)), None)
    return ResponseFacts(
        message=None if content is None else {**content, "role": content.get("role") or "model"},
        usage=gemini_usage(response.get("usageMetadata", response.get("usage_metadata"))),
        model=_text(response.get("modelVersion", response.get("model_version"))),
        at=parse_time(response.get("createTime")),
        dialect="gemini",
    )


def _ollama(response: Wire) -> ResponseFacts:
    prompt, answer = figure(response.get("prompt_eval_count")), figure(response.get("eval_count"))
    return ResponseFacts(
        message={"role": "assistant", **response["message"]},
        usage=Usage(input=prompt, output=answer),
        model=_text(response.get("model")),
        at=parse_time(response.get("created_at")),
        dialect="openai_chat",
    )


def _by_life(usage: Wire) -> int | None:
    lives = [number for value in _object(usage, "cache_creation").values() if (number := figure(value)) is not None]
    return sum(lives) if lives else None


def _first(*values: Any) -> int | None:
    return next((number for value in values if (number := figure(value)) is not None), None)


def _object(owner: Wire, key: str) -> Mapping[str, Any]:
    value = owner.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
