"""What a JSON value looks like: a message, a list of messages, a request body or a response, and of which provider.

Roles and contents are much alike everywhere, so each test asks for what the one shape has and its neighbours lack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects.content import type_of
from ..wire import Wire
from .responses import is_anthropic_response, is_gemini_response, is_openai_response, is_responses_response

LISTS = {"openai_chat": "messages", "anthropic": "messages", "openai_responses": "input", "gemini": "contents"}
"""Where each dialect's request body keeps its conversation."""

REQUEST_KEYS = frozenset(
    """
    messages model system tools tool_choice parallel_tool_calls functions function_call max_tokens
    max_completion_tokens max_output_tokens temperature top_p top_k min_p n stop stop_sequences stream stream_options
    seed response_format output_format output_config metadata user thinking reasoning reasoning_effort verbosity
    logprobs top_logprobs logit_bias presence_penalty frequency_penalty repetition_penalty service_tier store
    modalities audio prediction web_search_options extra_body context_management container mcp_servers cache_control
    betas prompt_cache_key prompt_cache_retention safety_identifier
    """.split()  # noqa: SIM905
)
"""What a request body may hold. A record without a model and with other keys is a row around its messages."""

RESPONSES_KEYS = REQUEST_KEYS | frozenset(
    """
    input instructions previous_response_id conversation include text truncation background prompt max_tool_calls
    text_format extra_headers
    """.split()  # noqa: SIM905
)
"""What a request body of OpenAI Responses may hold."""

GEMINI_KEYS = frozenset(
    """
    contents systemInstruction system_instruction tools toolConfig tool_config generationConfig generation_config
    safetySettings safety_settings cachedContent cached_content labels model config session_id
    """.split()  # noqa: SIM905
)
"""What a request body of Gemini may hold, also as Google's libraries write it."""

CACHED_KEYS = ("cachedContent", "cached_content")
"""What names content that a Gemini prompt begins with and the provider keeps."""

ITEM_TYPES = frozenset(
    """
    reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call
    local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output web_search_call
    file_search_call code_interpreter_call computer_call computer_call_output image_generation_call mcp_list_tools
    mcp_call mcp_approval_request mcp_approval_response tool_search_call tool_search_output additional_tools
    compaction item_reference
    """.split()  # noqa: SIM905
)
"""The items that OpenAI Responses has beside messages."""

_ITEM_FIELDS = frozenset(
    """
    call_id summary encrypted_content server_label arguments output action queries results code tools id
    approval_request_id
    """.split()  # noqa: SIM905
)
_ITEM_TEXTS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def bodies(value: Any) -> list[Any]:
    """Return the places where a record may hold a request body."""
    return [value, value.get("request"), value.get("body")] if isinstance(value, Mapping) else []


def responses(value: Any) -> list[Any]:
    """Return the places where a record may hold a response that can be read with its request, if it has one."""
    if not isinstance(value, Mapping):
        return []
    readable = "request" not in value or is_body(value["request"])
    return [value, unwrapped(value.get("response"))] if readable else [value]


def unwrapped(response: Any) -> Any:
    """Return the response inside a logged HTTP answer (`{"status_code", "body"}`)."""
    if (
        isinstance(response, Mapping)
        and isinstance(response.get("body"), Mapping | list | str)
        and "choices" not in response
    ):
        return response["body"]
    return response


def is_body(value: Any) -> bool:
    """Tell whether a value is a request body of any dialect."""
    return has_messages(value) or has_input(value) or has_contents(value)


def list_key(body: Wire) -> str:
    """Return where a request body keeps its conversation."""
    return next((key for key in ("messages", "contents", "input") if key in body), "messages")


def as_rest(body: Wire) -> Wire:
    """Return a Gemini body that Google's Python library took (settings in `config`) as the service takes it."""
    config = body.get("config")
    if "contents" not in body or not isinstance(config, Mapping):
        return body
    outer = frozenset({"systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config", *CACHED_KEYS})
    lifted = {key: value for key, value in config.items() if key in outer}
    rest = {key: value for key, value in config.items() if key not in outer}
    plain = {key: value for key, value in body.items() if key != "config"}
    return {**plain, **lifted, **({"generationConfig": rest} if rest else {})}


def has_messages(value: Any) -> bool:
    """Tell whether a value is an object with a list `messages` that holds messages, or nothing."""
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        return False
    return not value["messages"] or any(map(is_message, value["messages"]))


def has_input(value: Any) -> bool:
    """Tell whether a value is a request body of OpenAI Responses (embeddings and speech have an `input` too)."""
    if not isinstance(value, Mapping) or "messages" in value or "contents" in value or "output" in value:
        return False
    given, plain = value.get("input"), "model" in value and value.keys() <= RESPONSES_KEYS
    if isinstance(given, str):
        return plain and "embedding" not in str(value["model"])
    if not isinstance(given, list):
        return False
    known = [item for item in given if is_item(item) or is_message(item)]
    return any(map(is_item, known)) or (bool(known or not given) and plain)


def has_contents(value: Any) -> bool:
    """Tell whether a value is a request body of Gemini."""
    if not isinstance(value, Mapping):
        return False
    given, plain = value.get("contents"), value.keys() <= GEMINI_KEYS
    if isinstance(given, list):
        return any(map(is_content, given)) or (plain and not given)
    return isinstance(given, str) and plain and len(value) > 1


def is_message_list(value: Any) -> bool:
    """Tell whether a value is a bare list of messages."""
    return isinstance(value, list) and any(map(is_message, value)) and not all(map(is_response, value))


def is_item_list(value: Any) -> bool:
    """Tell whether a value is a bare list of OpenAI Responses items."""
    return isinstance(value, list) and any(map(is_item, value))


def is_content_list(value: Any) -> bool:
    """Tell whether a value is a bare list of Gemini contents."""
    return isinstance(value, list) and any(map(is_content, value))


def is_message(value: Any) -> bool:
    """Tell whether a value looks like a message: an object with a role and something said or called."""
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str):
        return False
    return any(key in value for key in ("content", "tool_calls", "function_call", "reasoning_content"))


def is_item(value: Any) -> bool:
    """Tell whether a value can only be an item of OpenAI Responses."""
    if not isinstance(value, Mapping) or not isinstance(value.get("type", "message"), str):
        return False
    if value.get("type") in ITEM_TYPES:
        return not _ITEM_FIELDS.isdisjoint(value)
    content = value.get("content")
    typed = isinstance(content, list) and value.get("type", "message") == "message"
    return typed and any(type_of(part) in _ITEM_TEXTS for part in value["content"])


def is_content(value: Any) -> bool:
    """Tell whether a value is a content of Gemini. Parts with a `type` are another format's."""
    if not isinstance(value, Mapping) or not isinstance(value.get("parts"), list) or "content" in value:
        return False
    if value.get("role") not in (None, "user", "model", "function", "system"):
        return False
    return not any(isinstance(part, Mapping) and "type" in part for part in value["parts"])


def is_response(value: Any) -> bool:
    """Tell whether a value is a response object of a provider."""
    if is_item(value):
        return False
    known = (is_openai_response, is_anthropic_response, is_responses_response, is_gemini_response)
    return any(test(value) for test in known)


def is_openai_body(body: Wire) -> bool:
    """Tell whether something in a body exists in OpenAI chat and not in Anthropic Messages."""
    if any(key in body for key in ("functions", "response_format", "max_completion_tokens", "frequency_penalty")):
        return True
    tools = body.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, Mapping) and "function" in tool for tool in tools):
        return True
    return any(map(is_openai_message, body["messages"]))


def is_openai_message(message: Any) -> bool:
    """Tell whether a message can only be one of OpenAI chat."""
    if not isinstance(message, Mapping):
        return False
    roles = ("system", "developer", "tool", "function")
    return message.get("role") in roles or "tool_calls" in message or "function_call" in message
