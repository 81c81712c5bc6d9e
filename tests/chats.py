"""Short OpenAI chat messages and files of them, and what a test asks of a transcript."""

import json
from collections.abc import Iterable
from typing import Any

from core.readers import read
from core.transcript import Transcript

SYSTEM = {"role": "system", "content": "be brief"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calling(*ids: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(id: str, text: str = "r") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", **more, "messages": list(messages)}


def completion(message: dict[str, Any], **usage: int) -> dict[str, Any]:
    return {"object": "chat.completion", "model": "gpt-4o-2024", "choices": [{"message": message}], "usage": usage}


def lines(values: Iterable[Any]) -> str:
    return "\n".join(json.dumps(value) for value in values)


def only(content: Any, **options: Any) -> Transcript:
    found = read(content if isinstance(content, str) else json.dumps(content), **options)
    assert [str(problem) for problem in found.problems] == []
    assert len(found.transcripts) == 1
    return found.transcripts[0]


def prompts(transcript: Transcript) -> list[list[Any]]:
    return [transcript.captured(i)["messages"] for i in range(len(transcript.calls))]


def responses(transcript: Transcript) -> list[Any]:
    return [call.response for call in transcript.calls]
