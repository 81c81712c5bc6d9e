"""What the tests of the store share: databases to run on, and transcripts to put into them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text

from core.readers.builder import TranscriptBuilder
from core.transcript import Fidelity, Transcript, Usage
from storage.database import open_engine
from storage.library import Library

ROOT = Path(__file__).parents[1]
POSTGRESQL = "PROMPT_INSPECTOR_TEST_POSTGRESQL"
"""URL of a PostgreSQL database whose user may create databases, for the tests that run on both."""

MORNING = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind that the store runs on."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.db'}"
        return
    server = os.environ.get(POSTGRESQL)
    if not server:
        pytest.skip(f"{POSTGRESQL} names no PostgreSQL server")
    name = f"test_{uuid.uuid4().hex}"
    admin = create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture
def library(url: str) -> Iterator[Library]:
    """An empty library."""
    opened = Library(open_engine(url))
    yield opened
    opened.engine.dispose()


def rows(library: Library) -> dict[str, int]:
    """Count the rows of the tables that hold transcripts."""
    tables = ("transcript", "head", "message", "call", "variant", "content", "tag", "analysis")
    with library.engine.begin() as connection:
        return {name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one() for name in tables}


def openai_body(calls: int, system: str = "You help.", model: str = "gpt-4o", note: str = "") -> dict[str, Any]:
    """Return the request of the last of some calls: a question and an answer for each one before."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
    for number in range(calls):
        if number:
            messages.append({"role": "assistant", "content": answer(number - 1)})
        messages.append({"role": "user", "content": f"question {number}{note}"})
    return {"model": model, "messages": messages}


def answer(call: int) -> str:
    """Return what the assistant says in a call."""
    return f"answer {call}, at some length"


def openai_response(call: int, model: str = "gpt-4o-2024-08-06") -> dict[str, Any]:
    """Return the response to a call of `openai_body`."""
    message = {"role": "assistant", "content": answer(call)}
    usage = {
        "prompt_tokens": 100 + call,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": f"chatcmpl-{call}", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}


def openai_run(calls: int = 3, session: str = "") -> Transcript:
    """Return a run of growing requests."""
    builder = TranscriptBuilder("openai_chat")
    for number in range(calls):
        builder.call(
            builder.body(openai_body(number + 1)),
            response={"role": "assistant", "content": answer(number)},
            usage=Usage(100 + number, 64, None, 7, 3),
            model="gpt-4o",
            at=MORNING + timedelta(minutes=number),
        )
    return builder.build(title="A run", format="openai_chat", source="run.jsonl", session=session)


def anthropic_run() -> Transcript:
    """Return a run with everything that a transcript may hold.

    Its cache marks wander, one text is spelt in two ways, its prompt is compacted once, its system prompt changes and
    a message hangs loose.
    """
    builder = TranscriptBuilder("anthropic")
    mark = {"cache_control": {"type": "ephemeral"}}
    messages: list[dict[str, Any]] = []
    for number in range(4):
        messages.append({"role": "user", "content": f"frage {number}: weiß \ud83d — 你好 \x00"})
        marked = [{"type": "text", "text": messages[-1]["content"], **mark}]
        sent = [*messages[:-1], {"role": "user", "content": marked}]
        body = {"model": "claude-x", "max_tokens": 9, "system": f"Tag {number // 2}", "messages": sent}
        placed = builder.body(body)
        reply = {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{number}", "name": "ls", "input": {}}]}
        builder.call(placed, response=reply, hints={"goal": f"ziel {number}", "facts": []}, at=MORNING)
        messages.append(reply)
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}"}]})
    history = builder.extend(placed.last, messages[-2:])
    summary = builder.body({"model": "claude-x", "messages": [{"role": "user", "content": "Zusammenfassung"}]})
    builder.call(summary, history=history, fidelity=Fidelity.RECONSTRUCTED, usage=Usage(input=12), model="claude-x")
    builder.call(builder.body({"model": "claude-x", "messages": []}), fidelity=Fidelity.PARTIAL)
    builder.add(history, {"role": "user", "content": 1.0, "n": [1e400, True, None, {"b": 1, "a": 2}]})
    return builder.build(
        title="Ein Lauf", format="anthropic", source="lauf.json", session="s-1", notes=["erste \ud83d", "zweite"],
        meta={"cwd": "/x", "list": [1, {"y": None}]},
    )  # fmt: skip


def bodies(transcript: Transcript) -> list[dict[str, Any]]:
    """Return all request bodies of a transcript, as captured and with their history."""
    calls = range(len(transcript.calls))
    return [transcript.captured(call) for call in calls] + [transcript.history(call) for call in calls]
