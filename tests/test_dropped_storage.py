"""A library without content: nothing that was said is in its file, in whatever part of a request it stood."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from core.dropped_content import FINGERPRINTS
from core.identity import transcript_sha256
from core.readers import read
from core.wire import Wire
from storage.library import Exchange, Library
from tests.private_libraries import library, privacy

__all__ = ["library", "privacy"]

SAID = {"name": "Zebulon Quaglia", "status": "leprous", "id": "078-05-1120", "type": "widower", "kinfolk": 8675309,
        "ill": True, "role": "Bo", "who": [{"model": "Zebulon", "n": 73}], "text": "Bo"}  # fmt: skip
NEEDLES = ["Zebulon", "Quaglia", "leprous", "078-05-1120", "widower", "kinfolk", "8675309"]
SHORT = {"Bo", "ill", "who", "73", "yes"}
JSON = json.dumps(SAID)

OpenRequest = tuple[Wire, Wire]


def chat() -> OpenRequest:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": JSON}}
    messages = [
        {"role": "user", "name": "Zebulon", "content": "yes", "metadata": SAID},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": JSON},
        {"role": "assistant", "content": None, "function_call": {"name": "find", "arguments": JSON}},
        {"role": "function", "name": "find", "content": [{"type": "text", "text": JSON}, {"type": "odd", **SAID}]},
    ]
    request = {"model": "gpt-4o", "messages": messages, "metadata": SAID, "user": "Quaglia", "customer": SAID}
    answer = {"role": "assistant", "content": "yes", "tool_calls": [{**call, "id": "c2"}]}
    return request, {"object": "chat.completion", "choices": [{"message": answer}]}


def responses() -> OpenRequest:
    call = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": JSON, "status": "completed"}
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "yes"}]},
        call,
        {"type": "function_call_output", "call_id": "c1", "output": JSON},
        {"type": "mcp_call", "id": "m1", "name": "find", "arguments": JSON, "output": JSON, "error": SAID},
        {"type": "file_search_call", "id": "f1", "queries": ["Zebulon"], "results": [SAID]},
        {"type": "web_search_call", "id": "w1", "action": SAID},
        {"type": "shell_call_output", "call_id": "c3", "output": [SAID]},
        {"type": "computer_call_output", "call_id": "c4", "output": SAID},
        {"type": "unheard_of", **{key: value for key, value in SAID.items() if key not in ("type", "id", "role")}},
    ]
    request = {"model": "gpt-5", "instructions": "Quaglia", "input": items, "prompt": {"id": "p", "variables": SAID}}
    return request, {"object": "response", "output": [{**call, "call_id": "c9"}, {**call, "call_id": "c8"}]}


def anthropic() -> OpenRequest:
    call = {"type": "tool_use", "id": "t1", "name": "find", "input": SAID}
    results = [
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": [{"type": "text", "text": JSON}, {"type": "odd", "x": SAID}],
        },
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": JSON}, "title": "Zebulon"},
    ]
    served = [
        {"type": "server_tool_use", "id": "t2", "name": "find", "input": SAID},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "t2", "content": {"stdout": JSON, "at": SAID}},
        {"type": "thinking", "thinking": JSON, "signature": "leprous"},
    ]
    messages = [
        {"role": "user", "content": "yes"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": served},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": SAID}]},
    ]
    tool = {
        "name": "find",
        "input_schema": {"properties": {"q": {"type": "string", "examples": [SAID], "default": 8675309}}},
    }
    request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": [{"type": "text", "text": JSON}],
               "messages": messages, "tools": [tool], "metadata": {"user_id": "Zebulon"}}  # fmt: skip
    return request, {"type": "message", "role": "assistant", "content": [{**call, "id": "t9"}]}


def gemini() -> OpenRequest:
    contents = [
        {"role": "user", "parts": [{"text": "yes"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": SAID}, "thoughtSignature": "leprous"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": SAID}}]},
        {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": JSON}}, {"odd": SAID}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"output": JSON}}}]},
    ]
    request = {"systemInstruction": {"parts": [{"text": JSON}]}, "contents": contents, "labels": SAID}
    answer = {"role": "model", "parts": [{"functionCall": {"name": "find", "args": SAID}}]}
    return request, {"candidates": [{"content": answer}], "modelVersion": "gemini-2.5-pro"}


DIALECTS = [chat, responses, anthropic, gemini]


def capture(library: Library, exchange: OpenRequest) -> None:
    request, response = exchange
    hints = {"goal": JSON, "facts": ["Zebulon"]}
    library.append_call(Exchange(request, response, "s", hints))
    library.append_call(Exchange(request, {"error": SAID}, "s"))
    library.append_call(Exchange(request, response))


def import_it(library: Library, exchange: OpenRequest) -> None:
    request, response = exchange
    read_result = read(json.dumps({"request": request, "response": response}))
    assert len(read_result.transcripts) == 1
    library.add(read_result.transcripts[0])


def stored_words(library: Library) -> set[str]:
    """Return the words, keys and figures in all texts of the database, fingerprints and hashes left out."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                found.update(str(key).split())
                if key != FINGERPRINTS:
                    walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        else:
            found.update(str(value).split())

    with library.engine.begin() as connection:
        for (content,) in connection.execute(text("SELECT json FROM content")).all():
            walk(json.loads(content))
        for row in connection.execute(text("SELECT title, notes, meta, models, source FROM transcript")).all():
            for column in row:
                found.update(column.replace('"', " ").split())
    return found


@pytest.mark.parametrize("exchange", DIALECTS)
@pytest.mark.parametrize("stored", [capture, import_it])
def test_nothing_that_was_said_is_in_the_file(
    stored: Callable[[Library, OpenRequest], None],
    exchange: Callable[[], OpenRequest],
    library: Library,
    tmp_path: Path,
) -> None:
    stored(library, exchange())
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    whole = not library.privacy.content
    assert [needle for needle in NEEDLES if needle.encode() in raw] == (NEEDLES if whole else [])
    words = stored_words(library)
    assert bool(SHORT & words) is whole
    assert "find" in words


@pytest.mark.parametrize("exchange", DIALECTS)
def test_calls_still_find_their_results(exchange: Callable[[], OpenRequest], library: Library) -> None:
    import_it(library, exchange())
    (summary,) = library.list()
    transcript = library.get(summary.id)
    assert summary.sha256 == transcript_sha256(transcript)
    assert summary.messages == len(transcript.messages) > 4
