"""Attributes of spans that describe a call to a model, in the words of several conventions.

OpenTelemetry's `gen_ai.*` with messages as JSON, its older form with one key a field (OpenLLMetry), OpenInference's
`llm.*`, and the `ai.*` of the Vercel AI SDK.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..transcript import Usage
from . import genai_parts, openinference_messages
from .chat_wire import decoded
from .fields import inner, text
from .figures import figure
from .prompts import Loose, prompt_of
from .recorded_replies import reply_of

Attributes = Mapping[str, Any]
_WHOLE = re.compile(r"-?[0-9]{1,99}")

INPUTS = (
    "gcp.vertex.agent.llm_request",
    "gen_ai.input.messages",
    "gen_ai.prompt",
    "ai.prompt.messages",
    "ai.prompt",
    "llm.prompts",
    "gen_ai.request.messages",
)
OUTPUTS = (
    "gcp.vertex.agent.llm_response",
    "gen_ai.output.messages",
    "gen_ai.completion",
    "gen_ai.response.messages",
    "llm.completions",
)
TOOLS = ("gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools", "llm.tools", "tools")
IN = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
)
OUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
)
READ = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.cached_tokens",
    "gen_ai.usage.details.cached_tokens",
    "gen_ai.usage.details.cache_read_input_tokens",
    "gen_ai.usage.details.cache_read_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
    "ai.usage.inputTokenDetails.cacheReadTokens",
)
WRITTEN = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_creation_input_tokens",
    "gen_ai.usage.details.cache_write_tokens",
    "llm.token_count.prompt_details.cache_write",
    "ai.usage.inputTokenDetails.cacheWriteTokens",
)
REASONING = (
    "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.output_tokens.reasoning",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "ai.usage.reasoningTokens",
)
MODELS = (
    "gen_ai.response.model",
    "ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
    "llm.response.model",
    "llm.request.model",
)
SESSIONS = (
    "session.id",
    "gen_ai.conversation.id",
    "langfuse.session.id",
    "ai.telemetry.metadata.sessionId",
    "traceloop.association.properties.session_id",
    "thread.id",
    "scope.agentic.session",
)


def prompt_in(attributes: Attributes) -> Loose | None:
    """Return the messages that a model was given; None if the span does not hold them."""
    if listed := openinference_messages.messages(attributes, "llm.input_messages"):
        return Loose([{"message": one} for one in listed])
    if listed := openinference_messages.messages(attributes, "gen_ai.prompt"):
        return Loose([{"message": one} if "tool_calls" in one else one for one in listed])
    loose = next((found for key in INPUTS if (found := prompt_of(attributes.get(key))) is not None), None)
    return loose if loose is not None else _from_value(attributes, "input", prompt_of)


def reply_in(attributes: Attributes) -> Loose | None:
    """Return what a model answered; None if the span does not hold it."""
    for prefix in ("llm.output_messages", "gen_ai.completion"):
        if listed := openinference_messages.messages(attributes, prefix):
            return Loose([{"message": {"role": "assistant", **one}} for one in listed])
    loose = next((found for key in OUTPUTS if (found := reply_of(attributes.get(key))) is not None), None)
    loose = loose or _vercel_reply(attributes)
    return loose if loose is not None else _from_value(attributes, "output", reply_of)


def system_in(attributes: Attributes) -> list[str]:
    """Return the system prompt, where it is recorded apart from the messages."""
    if "gen_ai.system_instructions" in attributes:
        return genai_parts.system_texts(attributes["gen_ai.system_instructions"])
    invocation = decoded(attributes.get("llm.invocation_parameters"))
    system = invocation.get("system") if isinstance(invocation, Mapping) else None
    return genai_parts.system_texts(system) if system else []


def tools_in(attributes: Attributes) -> Any:
    """Return the tool definitions, in whatever form."""
    if found := openinference_messages.tools(attributes):
        return found
    for key in TOOLS:
        value = decoded(attributes.get(key))
        if isinstance(value, list) and value:
            return [decoded(one) for one in value]
    asked = decoded(attributes.get("model_request_parameters"))
    if isinstance(asked, Mapping):
        kinds = ("function_tools", "output_tools", "builtin_tools")
        return [tool for kind in kinds if isinstance(asked.get(kind), list) for tool in asked[kind]]
    functions = openinference_messages.nested(attributes, "llm.request.functions")
    if isinstance(functions, list) and functions:
        return functions
    invocation = decoded(attributes.get("llm.invocation_parameters"))
    return inner({"value": invocation}, "value").get("tools")


def usage_in(attributes: Attributes) -> Usage:
    """Return the usage. Cached tokens are part of the input; where they are more than it, it leaves them out."""
    given, read, written = _number(attributes, IN), _number(attributes, READ), _number(attributes, WRITTEN)
    cached = (read or 0) + (written or 0)
    if given is not None and cached > given:
        given += cached
    return Usage(given, read, written, _number(attributes, OUT), _number(attributes, REASONING))


def model_in(attributes: Attributes) -> str | None:
    """Return the model that answered, else the one that was asked."""
    return text(attributes, *MODELS) or None


def session_in(attributes: Attributes) -> str:
    """Return the conversation that a call belongs to; empty if none is named."""
    return text(attributes, *SESSIONS)


def _vercel_reply(attributes: Attributes) -> Loose | None:
    said = text(attributes, "ai.response.text", "ai.result.text", "ai.response.object")
    calls = decoded(attributes.get("ai.response.toolCalls") or attributes.get("ai.result.toolCalls"))
    thought = text(attributes, "ai.response.reasoning")
    if not said and not calls:
        return None
    content = [{"type": "reasoning", "text": thought}] if thought else []
    content += [{"type": "text", "text": said}] if said else []
    for one in calls if isinstance(calls, list) else []:
        if isinstance(one, Mapping):
            given = decoded(one.get("input", one.get("args")))
            content.append({**one, "type": "tool-call", "input": given})
    return Loose([{"role": "assistant", "content": said if len(content) == 1 and said else content}])


def _from_value(attributes: Attributes, side: str, read: Any) -> Loose | None:
    """Return what `input.value` or `output.value` holds, where it is JSON: a plain text may be anything."""
    for key in (f"{side}.value", side):
        value = decoded(attributes.get(key))
        if isinstance(value, Mapping | list):
            found: Loose | None = read(value)
            return found
    return None


def _number(attributes: Attributes, keys: tuple[str, ...]) -> int | None:
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            value = int(value)
        if (number := figure(value)) is not None:
            return number
    return None
