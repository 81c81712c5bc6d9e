"""Small recorded runs, written as messages: every assistant message is the response of one call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from core.readers.builder import Placed, TranscriptBuilder
from core.transcript import ROOT, Transcript

Wire = dict[str, Any]


def user(text: str) -> Wire:
    return {"role": "user", "content": text}


def says(text: str) -> Wire:
    return {"role": "assistant", "content": text}


def uses(call_id: str, tool: str, text: str | None = None, **arguments: Any) -> Wire:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def result(call_id: str, text: str) -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool(name: str, description: str = "", **properties: str) -> Wire:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def run(messages: Sequence[Wire], system: str = "", tools: Sequence[Wire] = ()) -> Transcript:
    """Return the transcript of one conversation, a call for each assistant message."""
    builder = TranscriptBuilder("openai_chat")
    lead = [{"role": "system", "content": system}] if system else []
    head = builder.head({"model": "gpt-4o", "messages": lead, **({"tools": list(tools)} if tools else {})})
    last = ROOT
    for message in messages:
        if message["role"] == "assistant":
            builder.call(Placed(head, last), response=message)
        last = builder.add(last, message)
    return builder.build()
