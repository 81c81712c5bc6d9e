"""Random request bodies of the four dialects, with everything that a provider's own programs send.

A body is a head and events: turns of the user, replies, steps with parallel calls, late results, server tools, items
that nobody can read, and now and then a call without its result or a result without its call. What stands in a body is
drawn from a `Random`, so that a body is a function of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

Wire = dict[str, Any]

TEXTS = (
    "ok",
    "好的，请稍等。",
    "Look into the ledger of May, please.",
    "the pump stopped at 04:12 with code E17 " * 9,
    "库存还剩 63 箱，先不用补货。" * 7,
    "# House\n1. Say little.\n2. Name the source.\n\n<examples>\nQ: x\n</examples>\nEnd",
    '{"rows": [1, 2.5, null], "ok": true}',
    "first\nsecond\nthird\n" * 12,
    "PIN this: crate B-77 leaves on Friday",
    "half \ud83d pair and 😀",
)
NAMES = ("look_up", "run_code", "diary", "fetch")
ARGUMENTS: tuple[Wire, ...] = (
    {},
    {"path": "/opt"},
    {"q": "账本", "n": 3, "deep": {"a": [1, None]}},
    {"code": "x = 1\n" * 9},
)
MARK = {"cache_control": {"type": "ephemeral"}}
PIXEL = "iVBORw0KGgo="
STRAY = ("unanswered", "unasked", "told")
TOLD = "OBSERVATION:\nline of a log\n"
"""A result that is told as text."""


class Writer:
    """What the dialects share: drawing texts, calls and marks."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used = 0
        self.tells = False

    def text(self) -> str:
        return TOLD * self.random.randint(1, 6) if self.tells else self.random.choice(TEXTS)

    def told(self) -> list[Wire]:
        """A reply and one or two messages that tell results."""
        reply = self.said()  # type: ignore[attr-defined]
        self.tells = True
        results = [message for _ in range(self.random.randint(1, 2)) for message in self.user()]  # type: ignore[attr-defined]
        self.tells = False
        return [*reply, *results]

    def one_in(self, number: int) -> bool:
        return self.random.randrange(number) == 0

    def mark(self) -> Wire:
        return MARK if self.one_in(4) else {}

    def calls(self) -> list[tuple[str, str, Wire]]:
        """Calls by id, name and arguments."""
        self.used += 1
        number = self.random.randint(1, 3)
        return [(f"c{self.used}.{n}", self.random.choice(NAMES), self.random.choice(ARGUMENTS)) for n in range(number)]


class Chat(Writer):
    """OpenAI chat messages."""

    key = "messages"
    events: tuple[str, ...] = ("user", "user", "media", "said", "step", "step", "late", "system", "refusal", *STRAY)

    def user(self) -> list[Wire]:
        return [{"role": "user", "content": self.text(), **({"name": "kim"} if self.one_in(4) else {})}]

    def media(self) -> list[Wire]:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        other = self.random.choice([picture, {"type": "file", "file": {"file_id": "f1"}}, {"type": "riddle", "x": 1}])
        parts = [{"type": "text", "text": self.text(), **self.mark()}, other]
        return [{"role": "user", "content": parts if self.one_in(2) else parts[::-1]}]

    def said(self) -> list[Wire]:
        thought = {"reasoning_content": self.text()} if self.one_in(3) else {}
        return [{"role": "assistant", "content": self.text(), **thought}]

    def refusal(self) -> list[Wire]:
        return [{"role": "assistant", "content": None, "refusal": self.text()}]

    def system(self) -> list[Wire]:
        return [{"role": self.random.choice(["system", "developer"]), "content": self.text()}]

    def step(self, between: list[Wire] | None = None) -> list[Wire]:
        made = self.calls()
        calls = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for call, name, given in made
        ]
        content = self.text() if self.one_in(2) else None
        results = [{"role": "tool", "tool_call_id": call, "content": self.result()} for call, _, _ in made]
        return [{"role": "assistant", "content": content, "tool_calls": calls}, *(between or []), *results]

    def result(self) -> Any:
        return [{"type": "text", "text": self.text(), **self.mark()}] if self.one_in(4) else self.text()

    def late(self) -> list[Wire]:
        return self.step(self.user())

    def unanswered(self) -> list[Wire]:
        """A reply whose results never came."""
        return [wire for wire in self.step() if wire["role"] != "tool"]

    def unasked(self) -> list[Wire]:
        """A result without its call."""
        return self.step()[-1:]

    def body(self, messages: list[Wire]) -> Wire:
        head = [wire for _ in range(self.random.randint(0, 2)) for wire in self.system()]
        if self.one_in(3):
            head += [{**wire, "role": "system"} for wire in self.media()]
        functions = [{"type": "function", "function": function} for function in self.functions()]
        return {"messages": [*head, *messages], **({"tools": functions} if functions else {})}

    def functions(self) -> list[Wire]:
        schema = {"type": "object", "properties": {"q": {"type": "string", "description": "what to look for"}}}
        names = self.random.sample(NAMES, self.random.randint(0, 3))
        return [{"name": name, "description": f"{name}: " + "it does " * 20, "parameters": schema} for name in names]


class Responses(Chat):
    """OpenAI Responses items."""

    key = "input"
    events: tuple[str, ...] = (
        "user",
        "user",
        "media",
        "said",
        "step",
        "step",
        "step",
        "late",
        "system",
        "server",
        "sealed",
        "listed",
        *STRAY,
    )

    def media(self) -> list[Wire]:
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
        other = self.random.choice([picture, {"type": "input_file", "file_id": "f1"}, {"type": "riddle", "x": 1}])
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": self.text()}, other]}]

    def said(self) -> list[Wire]:
        return [*self.thought(), {"role": "assistant", "content": [{"type": "output_text", "text": self.text()}]}]

    def thought(self) -> list[Wire]:
        if not self.one_in(3):
            return []
        summary = [{"type": "summary_text", "text": self.text()}] if self.one_in(2) else []
        return [{"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": "gAAA" * 400}]

    def step(self, between: list[Wire] | None = None) -> list[Wire]:
        made = self.calls()
        calls = [
            {"type": "function_call", "call_id": call, "name": name, "arguments": json.dumps(given)}
            for call, name, given in made
        ]
        results = [{"type": "function_call_output", "call_id": call, "output": self.result()} for call, _, _ in made]
        words = self.said() if self.one_in(2) else self.thought()
        return [*words, *calls, *(between or []), *results]

    def result(self) -> Any:
        return [{"type": "input_text", "text": self.text()}] if self.one_in(4) else self.text()

    def unanswered(self) -> list[Wire]:
        return [wire for wire in self.step() if wire.get("type") != "function_call_output"]

    def server(self) -> list[Wire]:
        """A call of the provider's own tool, which holds its result, and what the model says to it."""
        self.used += 1
        found = {"id": f"w{self.used}", "type": "web_search_call", "action": {"type": "search", "query": "x"}}
        return [*self.thought(), found, *self.said()]

    def sealed(self) -> list[Wire]:
        return [{"type": "compaction", "encrypted_content": "gAAA" * 300}]

    def listed(self) -> list[Wire]:
        return [{"type": "additional_tools", "role": "developer", "tools": self.functions()}]

    def body(self, messages: list[Wire]) -> Wire:
        head = [*self.system(), *self.listed()] if self.one_in(2) else self.listed() if self.one_in(3) else []
        functions = [{"type": "function", **function} for function in self.functions()]
        more = {"instructions": self.text()} if self.one_in(2) else {}
        return {**more, "input": [*head, *messages], **({"tools": functions} if functions else {})}


class Claude(Chat):
    """Anthropic messages."""

    events: tuple[str, ...] = ("user", "user", "media", "said", "step", "step", "mixed", "late", "server", *STRAY)

    def user(self) -> list[Wire]:
        text = self.text()
        return [
            {"role": "user", "content": text if self.one_in(2) else [{"type": "text", "text": text, **self.mark()}]}
        ]

    def media(self) -> list[Wire]:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        paper = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": self.text()}}
        other: Wire = self.random.choice([{"type": "image", "source": source}, paper, {"type": "riddle", "x": 1}])
        return [{"role": "user", "content": [{"type": "text", "text": self.text()}, {**other, **self.mark()}]}]

    def said(self) -> list[Wire]:
        return [{"role": "assistant", "content": [*self.thought(), {"type": "text", "text": self.text()}]}]

    def thought(self) -> list[Wire]:
        known = [{"type": "thinking", "thinking": self.text(), "signature": "c2ln"}]
        return (
            known if self.one_in(3) else [{"type": "redacted_thinking", "data": "z" * 3000}] if self.one_in(6) else []
        )

    def step(self, between: list[Wire] | None = None, more: list[Wire] | None = None) -> list[Wire]:
        made = self.calls()
        words = [{"type": "text", "text": self.text()}] if self.one_in(2) else []
        calls = [{"type": "tool_use", "id": call, "name": name, "input": given} for call, name, given in made]
        results = [{"type": "tool_result", "tool_use_id": call, "content": self.result()} for call, _, _ in made]
        reply = {"role": "assistant", "content": [*self.thought(), *words, *calls]}
        return [reply, *(between or []), {"role": "user", "content": [*results, *(more or [])]}]

    def unanswered(self) -> list[Wire]:
        return self.step()[:1]

    def mixed(self) -> list[Wire]:
        return self.step(more=[{"type": "text", "text": self.text(), **self.mark()}])

    def server(self) -> list[Wire]:
        self.used += 1
        call = {"type": "server_tool_use", "id": f"s{self.used}", "name": "web_search", "input": {"query": "x"}}
        found = [{"type": "web_search_result", "url": "u", "title": self.text()}]
        result = {"type": "web_search_tool_result", "tool_use_id": call["id"], "content": found}
        return [{"role": "assistant", "content": [call, result, {"type": "text", "text": self.text()}]}]

    def body(self, messages: list[Wire]) -> Wire:
        blocks = [{"type": "text", "text": self.text(), **self.mark()} for _ in range(self.random.randint(0, 2))]
        system: Any = (
            self.text() if self.one_in(3) else [*blocks, {"type": "riddle", "x": 1}] if self.one_in(3) else blocks
        )
        tools = [
            {"name": f["name"], "description": f["description"], "input_schema": f["parameters"], **self.mark()}
            for f in self.functions()
        ]
        return {
            "max_tokens": 9,
            **({"system": system} if system else {}),
            "messages": messages,
            **({"tools": tools} if tools else {}),
        }


class Contents(Chat):
    """Gemini contents."""

    key = "contents"
    events: tuple[str, ...] = ("user", "user", "media", "said", "step", "step", "late", *STRAY)

    def user(self) -> list[Wire]:
        return [{"role": "user", "parts": [{"text": self.text()}]}]

    def media(self) -> list[Wire]:
        picture = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
        other = self.random.choice([picture, {"fileData": {"fileUri": "u", "mimeType": "text/plain"}}, {"riddle": 1}])
        return [{"role": "user", "parts": [{"text": self.text()}, other]}]

    def said(self) -> list[Wire]:
        return [{"role": "model", "parts": [*self.thought(), {"text": self.text()}]}]

    def thought(self) -> list[Wire]:
        return [{"text": self.text(), "thought": True}] if self.one_in(3) else []

    def step(self, between: list[Wire] | None = None) -> list[Wire]:
        made, ids = self.calls(), self.one_in(2)
        calls = [
            {"functionCall": {**({"id": call} if ids else {}), "name": name, "args": given}, "thoughtSignature": "c2ln"}
            for call, name, given in made
        ]
        results = [
            {"functionResponse": {**({"id": call} if ids else {}), "name": name, "response": self.result()}}
            for call, name, _ in made
        ]
        reply = {"role": "model", "parts": [*self.thought(), *calls]}
        return [reply, *(between or []), {"role": "user", "parts": results}]

    def result(self) -> Any:
        return {"output": self.text()} if self.one_in(2) else {"output": self.text(), "code": 1}

    def late(self) -> list[Wire]:
        return self.step(self.said())

    def unanswered(self) -> list[Wire]:
        return self.step()[:1]

    def body(self, messages: list[Wire]) -> Wire:
        parts = [{"text": self.text()} for _ in range(self.random.randint(0, 2))]
        if self.one_in(3):
            parts.insert(0, self.media()[0]["parts"][1])
        tools = [{"functionDeclarations": functions}] if (functions := self.functions()) else []
        system = {"systemInstruction": {"parts": parts}} if parts else {}
        return {**system, "contents": messages, **({"tools": tools} if tools else {})}


WRITERS: dict[str, Callable[[Random], Chat]] = {
    "openai_chat": Chat,
    "openai_responses": Responses,
    "anthropic": Claude,
    "gemini": Contents,
}


def random_body(random: Random, dialect: str, most: int = 12) -> Wire:
    """Return a request body that begins with a user message, of at most so many events."""
    writer = WRITERS[dialect](random)
    events = [random.choice(writer.events) for _ in range(random.randint(0, most))]
    return writer.body([wire for event in ("user", *events) for wire in getattr(writer, event)()])
