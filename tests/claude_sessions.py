"""Writes Claude Code sessions line by line, and the messages that they hold."""

import json
from typing import Any

from core.readers import ReadResult, read
from core.transcript import Transcript

NOTES = ("system prompt not recorded", "tool definitions not recorded")


class Session:
    """Writes lines as Claude Code does: each follows the line before unless told otherwise."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None

    def line(self, type: str, **fields: Any) -> str:
        uuid = f"u{len(self.lines)}"
        second = len(self.lines)
        base = {"type": type, "uuid": uuid, "parentUuid": self.last, "sessionId": "s", "isSidechain": False}
        self.lines.append({**base, "timestamp": f"2025-01-01T00:00:{second:02}Z", **fields})
        if not fields.get("isSidechain"):
            self.last = uuid
        return uuid

    def user(self, content: Any, **fields: Any) -> str:
        return self.line("user", message={"role": "user", "content": content}, **fields)

    def reply(self, id: str, *blocks: Any, usage: Any = None, model: str = "m", **fields: Any) -> str:
        message = {"id": id, "type": "message", "role": "assistant", "model": model, "content": list(blocks)}
        return self.line("assistant", message={**message, **({"usage": usage} if usage else {})}, **fields)

    def text(self) -> str:
        return "\n".join(json.dumps(line) for line in self.lines) + "\n"

    def read(self) -> ReadResult:
        return read(self.text())

    def only(self) -> Transcript:
        found = self.read()
        assert ([str(problem) for problem in found.problems], len(found.transcripts)) == ([], 1)
        return found.transcripts[0]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str, name: str = "f", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, content: str = "r") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def spoken(transcript: Transcript) -> list[Any]:
    """Return the newest branch as what was said in short."""
    return [
        message["content"]
        for message in (transcript.messages[i] for i in transcript.path(len(transcript.messages) - 1))
    ]
